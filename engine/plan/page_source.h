// Where sequences get their pages from and where the bytes of a page are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "engine/core/ids.h"

namespace infer::plan {

/// Positions in a page of keys and values.
inline constexpr std::uint32_t page_positions = 32;

/// Pages that `positions` positions take.
constexpr std::uint32_t pages_for(std::uint32_t positions) {
  return (positions + page_positions - 1) / page_positions;
}

/// Stands in a page table where the page was given back.
inline constexpr page_index no_page{std::numeric_limits<std::uint32_t>::max()};

/// The pages of all state groups of one plan. An index is unique among the pages of every group.
/// Threads: one owner at a time, like the sequences.
struct page_source {
  virtual ~page_source() = default;
  /// A page of `group` with one reference, or none where its pool is dry.
  virtual std::optional<page_index> take(std::uint32_t group) = 0;
  /// One reference more. A page with more than one is read-only.
  virtual void share(page_index page) = 0;
  /// Drops one reference; the last one returns the page.
  virtual void release(page_index page) = 0;
  virtual bool is_shared(page_index page) const = 0;
  virtual std::span<std::byte> bytes(page_index page) = 0;
};

}  // namespace infer::plan
