// A stored sequence with any bytes changed and a right checksum: restoring it is an error or a sequence, and every page
// comes back.
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/memory/page_pool.h"
#include "engine/plan/sequence.h"

using namespace infer;

namespace {

constexpr std::uint32_t context = 160;
constexpr std::uint64_t fingerprint = 7;
constexpr std::size_t checksum_at = 8, summed_from = 16;  // of the header in engine/plan/snapshot.cc

std::vector<plan::state_group> groups() {
  plan::state_group paged, windowed, recurrent;
  windowed.kind = plan::state_kind::windowed;
  windowed.window = 40;
  recurrent.kind = plan::state_kind::recurrent;
  return {paged, windowed, recurrent};
}

memory::page_pool make_pool() {
  const std::vector<memory::group_pages> sizes{{16, 64}, {16, 32}, {8, 48}};
  return memory::page_pool::make(sizes).value();
}

std::vector<std::byte> valid_snapshot(memory::page_pool& pool) {
  const auto kinds = groups();
  plan::sequence sequence(pool, kinds, context);
  for (int step = 0; step < 4; ++step) {
    if (!sequence.reserve(30)) std::abort();
    sequence.commit(30);
  }
  return sequence.snapshot(fingerprint);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static memory::page_pool pool = make_pool();
  static const std::vector<std::byte> valid = valid_snapshot(pool);
  static const auto free_pages = [] {
    std::vector<std::uint32_t> out;
    for (std::uint32_t group = 0; group < 3; ++group) out.push_back(pool.free_pages(group));
    return out;
  }();
  std::vector<std::byte> bytes = valid;
  // Records of three bytes: where, what; an odd rest cuts the end off.
  for (; size >= 3; size -= 3, data += 3) {
    const std::size_t at = (data[0] | data[1] << 8) % bytes.size();
    bytes[at] = static_cast<std::byte>(data[2]);
  }
  if (size > 0) bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), data[0]));
  if (bytes.size() >= summed_from) {
    const std::uint64_t sum = XXH3_64bits(bytes.data() + summed_from, bytes.size() - summed_from);
    std::memcpy(bytes.data() + checksum_at, &sum, sizeof sum);
  }
  const auto kinds = groups();
  {
    const auto restored = plan::sequence::restore(pool, kinds, context, fingerprint, bytes);
    if (restored && restored.value().length() > context) std::abort();
  }
  for (std::uint32_t group = 0; group < 3; ++group) {
    if (pool.free_pages(group) != free_pages[group]) std::abort();
  }
  return 0;
}
