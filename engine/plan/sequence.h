// The state of one sequence: how many positions it holds and in which pages.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/ids.h"
#include "engine/core/result.h"
#include "engine/plan/fault.h"

namespace infer::plan {

/// Where sequences get their pages from. Threads: one owner at a time, like the sequences.
struct page_source {
  virtual ~page_source() = default;
  /// A page with one reference, or none where the pool is dry.
  virtual std::optional<page_index> take() = 0;
  virtual void share(page_index page) = 0;
  /// Drops one reference; the last one returns the page.
  virtual void release(page_index page) = 0;
};

/// Positions [0, length) are committed; a step writes behind them and `commit` makes them count.
/// Errors:  `no_pages` where the pool is dry; nothing changes then.
/// Threads: used by one decode at a time, like its pool.
/// Memory:  gives its pages back when it ends; the pool must outlive it.
class sequence {
 public:
  sequence(page_source& pool, std::uint32_t context) : pool_(&pool), context_(context) {}
  sequence(sequence&& other) noexcept;
  sequence& operator=(sequence&& other) noexcept;
  ~sequence();

  std::uint32_t length() const { return length_; }
  std::uint32_t context() const { return context_; }
  std::span<const page_index> pages() const { return pages_; }

  /// Makes room for `more` positions behind the committed ones.
  result<void> reserve(std::uint32_t more);
  /// Counts `more` written positions.
  void commit(std::uint32_t more) { length_ += more; }
  /// Cuts to `to` positions and gives back pages behind them; returns where it landed.
  std::uint32_t truncate(std::uint32_t to);

 private:
  page_source* pool_;
  std::uint32_t context_;
  std::uint32_t length_ = 0;
  std::vector<page_index> pages_;
};

/// Pages that `positions` positions take.
constexpr std::uint32_t pages_for(std::uint32_t positions) {
  return (positions + 31) / 32;
}

}  // namespace infer::plan
