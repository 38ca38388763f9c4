// The state of one recurrent group: of fixed size, rewritten by every step.
//
//   step:  reads `current`, writes `shadow`      commit:  shadow becomes current
//
// The two never share a page, so forks and checkpoints only share `current`.
#pragma once

#include <cstdint>
#include <span>

#include "engine/plan/page_source.h"

namespace infer::plan {

/// Threads: as its source.
/// Memory:  at most two pages of the group's size; gives them back when it ends.
class recurrent_state {
 public:
  recurrent_state(page_source& source, std::uint32_t group) : source_(&source), group_(group) {}
  recurrent_state(recurrent_state&& other) noexcept;
  recurrent_state& operator=(recurrent_state&& other) noexcept;
  ~recurrent_state();

  /// What the last committed step left: one page, or none before the first.
  std::span<const page_index> table() const { return {&current_, current_ == no_page ? 0u : 1u}; }
  /// Where a step writes; `no_page` until it was taken.
  page_index shadow() const { return shadow_; }

  std::uint32_t fresh_needed() const { return shadow_ == no_page ? 1 : 0; }
  void extend(std::span<const page_index> fresh);
  void commit();

  /// Shares what is committed.
  recurrent_state fork() const;
  /// Back to the state before the first position.
  void clear();
  /// Takes over a page with a reference of its own as the committed state of an empty group.
  void adopt(page_index page) { current_ = page; }

 private:
  page_source* source_;
  std::uint32_t group_;
  page_index current_ = no_page, shadow_ = no_page;
};

}  // namespace infer::plan
