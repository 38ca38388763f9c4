// Making room for sequences.
#include "actors/model/state_pages.h"

#include <algorithm>

namespace infer::actors {
std::uint32_t state_pages::available(std::uint32_t group) const {
  return core_.pages.free_pages(group) + core_.prefixes->evictable(group);
}

std::uint32_t state_pages::growable(std::uint32_t group) const {
  const std::size_t page_bytes = core_.pages.page_bytes(group);
  if (page_bytes == 0) return 0;
  const std::uint64_t affordable = core_.budget->numbers().spare() / page_bytes;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(affordable, core_.pages.capacity(group) - core_.pages.pages(group)));
}

bool state_pages::can_have(std::uint32_t group, std::uint32_t pages) const {
  if (pages <= core_.pages.free_pages(group)) return true;
  const std::uint64_t more = core_.pages.free_pages(group) + std::uint64_t{growable(group)};
  return pages <= more || pages <= more + core_.prefixes->evictable(group);
}

void state_pages::grow(std::uint32_t group, std::uint32_t pages) {
  pages = std::min(pages, growable(group));
  if (pages == 0) return;
  auto lease =
      core_.budget->try_take_spare(memory::memory_kind::kv, pages * std::uint64_t{core_.pages.page_bytes(group)});
  if (!lease) return;
  core_.elastic.push_back(std::move(*lease));
  core_.pages.grow(group, pages);
}

bool state_pages::make_room(plan::sequence& sequence, std::uint32_t more, std::uint32_t ahead) {
  for (std::uint32_t group = 0; group < core_.pages.groups(); ++group) {
    if (!can_have(group, sequence.needs(group, more, ahead))) return false;
  }
  // What is needed first, for every group: growing by more would take from the groups that follow.
  for (std::uint32_t group = 0; group < core_.pages.groups(); ++group) {
    const std::uint32_t needed = sequence.needs(group, more, ahead);
    if (needed > core_.pages.free_pages(group)) grow(group, needed - core_.pages.free_pages(group));
  }
  for (std::uint32_t group = 0; group < core_.pages.groups(); ++group) {
    const std::uint32_t needed = sequence.needs(group, more, ahead);
    while (needed > core_.pages.free_pages(group) && core_.prefixes->evict(group)) {
    }
  }
  return bool(sequence.reserve(more, ahead));
}

}  // namespace infer::actors
