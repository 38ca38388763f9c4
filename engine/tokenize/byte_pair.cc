// The merge loop: a scan for short pieces, a heap over a linked list for long ones.
#include "engine/tokenize/byte_pair.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace infer::tokenize {
namespace {

constexpr std::size_t short_piece = 24;  // symbols up to which scanning for the best pair beats a heap

std::uint64_t pair_key(token_id left, token_id right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
}

std::size_t slot_of(std::uint64_t key, std::size_t mask) {
  key *= 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(key ^ key >> 32) & mask;
}

// Orders a heap so that its front has the lowest rank, leftmost first.
struct worse {
  bool operator()(const byte_pair::workspace::candidate& a, const byte_pair::workspace::candidate& b) const {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  }
};

}  // namespace

byte_pair::byte_pair(std::size_t expected_merges) : table_(std::bit_ceil(2 * expected_merges + 16)) {
  bytes_.fill(-1);
}

void byte_pair::grow() {
  std::vector<rule> old(2 * table_.size());
  old.swap(table_);
  const std::size_t mask = table_.size() - 1;
  for (const rule& entry : old) {
    if (entry.merged < 0) continue;
    std::size_t slot = slot_of(entry.pair, mask);
    while (table_[slot].merged >= 0) slot = (slot + 1) & mask;
    table_[slot] = entry;
  }
}

void byte_pair::add_merge(token_id left, token_id right, token_id merged) {
  const std::uint32_t rank = ranks_++;
  if (find(left, right) == nullptr) insert(left, right, merged, rank);
}

void byte_pair::add_ranked_merge(token_id left, token_id right, token_id merged, std::uint32_t rank) {
  if (find(left, right) == nullptr) insert(left, right, merged, rank);
}

void byte_pair::insert(token_id left, token_id right, token_id merged, std::uint32_t rank) {
  if (2 * (std::size_t{count_} + 1) > table_.size()) grow();
  const std::uint64_t key = pair_key(left, right);
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = slot_of(key, mask);
  while (table_[slot].merged >= 0) slot = (slot + 1) & mask;
  table_[slot] = rule{key, rank, merged};
  ++count_;
}

const byte_pair::rule* byte_pair::find(token_id left, token_id right) const {
  const std::uint64_t key = pair_key(left, right);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t slot = slot_of(key, mask); table_[slot].merged >= 0; slot = (slot + 1) & mask) {
    if (table_[slot].pair == key) return &table_[slot];
  }
  return nullptr;
}

void byte_pair::encode_short(std::vector<workspace::symbol>& symbols, std::vector<token_id>& out) const {
  std::size_t count = symbols.size();
  std::array<const rule*, short_piece> rules{};  // rules[i]: of the pair (i, i + 1)
  for (std::size_t i = 0; i + 1 < count; ++i) rules[i] = find(symbols[i].id, symbols[i + 1].id);
  while (count > 1) {
    std::size_t best = count;
    std::uint32_t best_rank = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i + 1 < count; ++i) {
      if (rules[i] != nullptr && rules[i]->rank < best_rank) {
        best = i;
        best_rank = rules[i]->rank;
      }
    }
    if (best == count) break;
    symbols[best].id = rules[best]->merged;
    for (std::size_t i = best + 1; i + 1 < count; ++i) {
      symbols[i] = symbols[i + 1];
      rules[i] = i + 2 < count ? rules[i + 1] : nullptr;
    }
    --count;
    rules[best] = best + 1 < count ? find(symbols[best].id, symbols[best + 1].id) : nullptr;
    if (best > 0) rules[best - 1] = find(symbols[best - 1].id, symbols[best].id);
  }
  for (std::size_t i = 0; i < count; ++i) out.push_back(symbols[i].id);
}

void byte_pair::encode_long(workspace& scratch, std::vector<token_id>& out) const {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.heap;
  heap.clear();
  const auto candidate_at = [&](std::int32_t left) {
    const std::int32_t right = symbols[left].next;
    if (right < 0) return false;
    const rule* found = find(symbols[left].id, symbols[right].id);
    if (found == nullptr) return false;
    heap.push_back({found->rank, left, symbols[left].id, symbols[right].id});
    return true;
  };
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) candidate_at(static_cast<std::int32_t>(i));
  std::make_heap(heap.begin(), heap.end(), worse{});
  while (!heap.empty()) {
    ++scratch.looked_at;
    std::pop_heap(heap.begin(), heap.end(), worse{});
    const workspace::candidate best = heap.back();
    heap.pop_back();
    auto& left = symbols[best.left];
    // A merged-away symbol has id -1; a changed neighbour has another id: such candidates are stale.
    if (left.id != best.left_id || left.next < 0 || symbols[left.next].id != best.right_id) continue;
    auto& right = symbols[left.next];
    left.id = find(best.left_id, best.right_id)->merged;
    left.next = right.next;
    if (right.next >= 0) symbols[right.next].previous = best.left;
    right.id = -1;
    right.next = -1;
    if (candidate_at(best.left)) std::push_heap(heap.begin(), heap.end(), worse{});
    if (left.previous >= 0 && candidate_at(left.previous)) std::push_heap(heap.begin(), heap.end(), worse{});
  }
  for (std::int32_t at = 0; at >= 0; at = symbols[at].next) out.push_back(symbols[at].id);
}

void byte_pair::encode(std::string_view piece, workspace& scratch, std::vector<token_id>& out) const {
  start(scratch);
  for (const char byte : piece) {
    const token_id id = bytes_[static_cast<std::uint8_t>(byte)];
    if (id >= 0) add(scratch, id);
  }
  merge(scratch, out);
}

void byte_pair::merge(workspace& scratch, std::vector<token_id>& out) const {
  auto& symbols = scratch.symbols;
  if (symbols.empty()) return;
  symbols.back().next = -1;
  if (symbols.size() <= short_piece) {
    encode_short(symbols, out);
  } else {
    encode_long(scratch, out);
  }
}

}  // namespace infer::tokenize
