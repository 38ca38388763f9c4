// The pages of one state group that keeps something for each position: keys and values, or a latent vector.
//
//   table   [ – | – | 7 | 3 | 9 | 4 ]      –: wholly behind the window, given back
//   page p holds positions [32p, 32p + 32); the last ones may be room that nothing was written to yet
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan/page_source.h"

namespace infer::plan {

/// Lengths are the sequence's; this class only keeps the table.
/// Threads: as its source.
/// Memory:  gives its pages back when it ends; the source must outlive it.
class position_pages {
 public:
  /// `window` positions are seen by a query, itself included; 0: all.
  position_pages(page_source& source, std::uint32_t group, std::uint32_t window)
      : source_(&source), group_(group), window_(window) {}
  position_pages(position_pages&& other) noexcept;
  position_pages& operator=(position_pages&& other) noexcept;
  ~position_pages();

  std::span<const page_index> table() const { return table_; }

  /// Pages to be taken before `more` positions may be written behind `length`: new ones, and one for a copy where the
  /// page that is written into is shared.
  std::uint32_t fresh_needed(std::uint32_t length, std::uint32_t more) const;
  /// Takes over as many fresh pages as `fresh_needed` said.
  void extend(std::uint32_t length, std::span<const page_index> fresh);
  /// The sequence now has `length` positions: pages wholly behind the window go back.
  void commit(std::uint32_t length);

  /// The largest cut ≤ `at_most` from which the sequence could go on.
  std::uint32_t restorable(std::uint32_t at_most) const;
  /// Cuts to `to`, which is restorable.
  void truncate(std::uint32_t to);
  /// Shares the pages of the first `at` positions.
  position_pages fork(std::uint32_t at) const;

  /// Takes over `pages`, each with a reference of its own, as the table of an empty group.
  void adopt(std::vector<page_index> pages);
  /// Shares `page` in the place of the page at `at`, whose bytes it equals.
  void replace(std::size_t at, page_index page);

 private:
  bool copies_on_write(std::uint32_t length) const;

  page_source* source_;
  std::uint32_t group_, window_;
  std::uint32_t behind_ = 0;  // leading entries given back
  std::vector<page_index> table_;
};

/// The first page that a query at position `length` reads: those before it are wholly behind the window.
constexpr std::uint32_t first_page_seen(std::uint32_t length, std::uint32_t window) {
  return window != 0 && length + 1 > window ? (length + 1 - window) / page_positions : 0;
}

}  // namespace infer::plan
