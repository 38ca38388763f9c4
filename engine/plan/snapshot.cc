// Sequences as bytes and back.
//
//   header | for each group: its numbers, then the bytes of its held pages          all little-endian
#include <xxhash.h>

#include <cstring>

#include "engine/plan/sequence.h"

namespace infer::plan {
namespace {

constexpr std::uint64_t snapshot_magic = 0x5145'535F'5246'4E49;  // "INFR_SEQ"
constexpr std::uint32_t snapshot_version = 1;

struct snapshot_header {
  std::uint64_t magic = snapshot_magic;
  std::uint64_t checksum = 0;  // of everything behind this field
  std::uint64_t fingerprint = 0;
  std::uint32_t version = snapshot_version;
  std::uint32_t groups = 0;
  std::uint32_t length = 0;
  std::uint32_t unused = 0;
};
struct snapshot_group {
  std::uint64_t page_bytes = 0;
  std::uint32_t kind = 0;
  std::uint32_t behind = 0;  // leading pages that were given back
  std::uint32_t held = 0;
  std::uint32_t unused = 0;
};
constexpr std::size_t summed_from = offsetof(snapshot_header, fingerprint);

template <class T>
void append(std::vector<std::byte>& out, const T& value) {
  out.resize(out.size() + sizeof value);
  std::memcpy(out.data() + out.size() - sizeof value, &value, sizeof value);
}

std::uint64_t sum(byte_view bytes) {
  return XXH3_64bits(bytes.data() + summed_from, bytes.size() - summed_from);
}

/// Pages of the table that committed positions lie in.
std::size_t committed_pages(state_kind kind, std::uint32_t length, std::size_t table) {
  return kind == state_kind::recurrent ? table : pages_for(length);
}

/// Copies the pages of one group out of `bytes`, which it shortens.
result<std::vector<page_index>> read_group(page_source& source, std::uint32_t group, const state_group& kind,
                                           std::uint32_t length, byte_view& bytes) {
  if (bytes.size() < sizeof(snapshot_group)) return fail(fault::damaged);
  const auto head = load_le<snapshot_group>(bytes.data());
  bytes = bytes.subspan(sizeof head);
  if (head.kind != static_cast<std::uint32_t>(kind.kind)) return fail(fault::foreign);
  const std::uint64_t all = std::uint64_t{head.behind} + head.held;
  const std::uint64_t expected = kind.kind == state_kind::recurrent ? (length > 0 ? 1 : 0) : pages_for(length);
  const std::uint32_t window = kind.kind == state_kind::windowed ? kind.window : 0;
  if (all != expected || (head.behind > 0 && head.behind > first_page_seen(length, window)))
    return fail(fault::damaged);
  if (head.page_bytes != 0 && head.held > bytes.size() / head.page_bytes) return fail(fault::damaged);
  std::vector<page_index> pages(head.behind, no_page);
  for (std::uint32_t i = 0; i < head.held; ++i) {
    const auto page = source.take(group);
    const bool fits = page && source.bytes(*page).size() == head.page_bytes;
    if (page) pages.push_back(*page);
    if (!fits) {
      for (std::size_t taken = head.behind; taken < pages.size(); ++taken) source.release(pages[taken]);
      return fail(page ? fault::foreign : fault::no_pages);
    }
    std::memcpy(source.bytes(*page).data(), bytes.data(), head.page_bytes);
    bytes = bytes.subspan(head.page_bytes);
  }
  return pages;
}

}  // namespace

std::vector<std::byte> sequence::snapshot(std::uint64_t fingerprint) const {
  std::vector<std::byte> out;
  snapshot_header header;
  header.fingerprint = fingerprint;
  header.groups = groups();
  header.length = length_;
  append(out, header);
  for (std::uint32_t group = 0; group < groups(); ++group) {
    const state_kind kind = kinds_[group].kind;
    const auto table = pages(group).first(committed_pages(kind, length_, pages(group).size()));
    snapshot_group head;
    head.kind = static_cast<std::uint32_t>(kind);
    while (head.behind < table.size() && table[head.behind] == no_page) ++head.behind;
    head.held = static_cast<std::uint32_t>(table.size()) - head.behind;
    if (head.held > 0) head.page_bytes = source_->bytes(table[head.behind]).size();
    append(out, head);
    for (const page_index page : table.subspan(head.behind)) {
      const auto bytes = source_->bytes(page);
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
  }
  const std::uint64_t checksum = sum(out);
  std::memcpy(out.data() + offsetof(snapshot_header, checksum), &checksum, sizeof checksum);
  return out;
}

result<sequence> sequence::restore(page_source& source, std::span<const state_group> groups, std::uint32_t context,
                                   std::uint64_t fingerprint, byte_view bytes) {
  if (bytes.size() < sizeof(snapshot_header)) return fail(fault::damaged);
  const auto header = load_le<snapshot_header>(bytes.data());
  if (header.magic != snapshot_magic || header.checksum != sum(bytes)) return fail(fault::damaged);
  if (header.version != snapshot_version || header.fingerprint != fingerprint || header.groups != groups.size())
    return fail(fault::foreign);
  if (header.length > context) return fail(fault::past_context);
  bytes = bytes.subspan(sizeof header);
  sequence out(source, groups, context);
  std::vector<std::vector<page_index>> tables;
  result<void> read = success();
  for (std::uint32_t group = 0; group < groups.size() && read; ++group) {
    auto table = read_group(source, group, groups[group], header.length, bytes);
    if (table)
      tables.push_back(std::move(table.value()));
    else
      read = fail(std::move(table.error()));
  }
  if (read && !bytes.empty()) read = fail(fault::damaged);
  if (read) out.attach(header.length, tables);
  // The sequence holds references of its own now, where it holds any.
  for (const auto& table : tables) {
    for (const page_index page : table) {
      if (page != no_page) source.release(page);
    }
  }
  INFER_TRYV(read);
  return out;
}

}  // namespace infer::plan
