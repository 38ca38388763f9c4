// Pools of reference-counted pages of sequence state: one for each state group of a plan.
//
//   take ──► 1 reference ──share──► n ──release──► 0 ──► back in the pool
//
// Hazards: a page with more than one reference is read-only; who wants to write takes a copy first. A page goes back to
// the pool with its old bytes in it; nothing may read a position that it has not written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/ids.h"
#include "engine/core/result.h"
#include "engine/plan/executor.h"
#include "engine/plan/page_source.h"

namespace infer::memory {

/// The pages of one group: so many at first, and at most so many.
struct group_pages {
  std::uint32_t pages = 0;
  std::size_t page_bytes = 0;
  std::uint32_t capacity = 0;  // addresses are reserved for; at least `pages`
};

struct unmap_pages {
  std::size_t bytes = 0;
  void operator()(std::byte* base) const noexcept;
};

/// Threads: not thread-safe; one decode owns it (counters may be read by others through its owner).
/// Memory:  one anonymous mapping for each group, touched page by page as it is used.
class page_pool final : public plan::page_source, public plan::page_memory {
 public:
  /// Errors: the system refuses a mapping.
  static result<page_pool> make(std::span<const group_pages> groups);
  /// For `sequences` sequences of `context` positions in steps of up to `batch`: of each group what one of them takes
  /// at once, and addresses for what all of them do.
  static result<page_pool> make(std::span<const plan::state_group> groups, plan::kv_type keys, plan::kv_type values,
                                std::uint32_t context, std::uint32_t batch, std::uint32_t sequences = 1);
  /// One group of `pages` pages of `page_bytes` bytes.
  static result<page_pool> make(std::uint32_t pages, std::size_t page_bytes);

  std::optional<page_index> take(std::uint32_t group = 0) override;
  void share(page_index page) override;
  void release(page_index page) override;
  bool is_shared(page_index page) const override { return references(page) > 1; }
  std::span<std::byte> bytes(page_index page) override { return {data(page), arena_of(page).page_bytes}; }

  std::byte* data(page_index page) override {
    const arena& a = arena_of(page);
    return a.base.get() + place_of(page) * a.page_bytes;
  }
  const std::byte* data(page_index page) const { return const_cast<page_pool*>(this)->data(page); }
  std::uint32_t references(page_index page) const { return arena_of(page).references[place_of(page)]; }

  /// Adds up to `pages` pages to a group, as far as its capacity goes; returns how many.
  std::uint32_t grow(std::uint32_t group, std::uint32_t pages);

  std::uint32_t groups() const { return static_cast<std::uint32_t>(arenas_.size()); }
  std::uint32_t pages(std::uint32_t group = 0) const { return arenas_[group].pages; }
  /// Of all groups together.
  std::uint32_t all_pages() const {
    std::uint32_t sum = 0;
    for (const arena& a : arenas_) sum += a.pages;
    return sum;
  }
  std::uint32_t free_pages(std::uint32_t group = 0) const {
    return static_cast<std::uint32_t>(arenas_[group].free.size());
  }
  std::uint32_t capacity(std::uint32_t group = 0) const {
    return static_cast<std::uint32_t>(arenas_[group].references.size());
  }
  std::size_t page_bytes(std::uint32_t group = 0) const { return arenas_[group].page_bytes; }
  static std::uint32_t group_of(page_index page) { return page.value >> place_bits; }

 private:
  static constexpr std::uint32_t place_bits = 26;
  struct arena {
    std::unique_ptr<std::byte, unmap_pages> base;
    std::size_t page_bytes = 0;
    std::uint32_t pages = 0;
    std::vector<std::uint32_t> references;  // one for each page up to the capacity
    std::vector<page_index> free;
  };
  static std::uint32_t place_of(page_index page) { return page.value & ((1u << place_bits) - 1); }
  arena& arena_of(page_index page) { return arenas_[group_of(page)]; }
  const arena& arena_of(page_index page) const { return arenas_[group_of(page)]; }

  std::vector<arena> arenas_;
};

}  // namespace infer::memory
