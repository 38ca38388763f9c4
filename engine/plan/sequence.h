// The state of one sequence: how many positions it holds and, for each state group of its plan, in which pages.
//
//   reserve ──► step writes behind `length` ──► commit          a step that fails never gets to commit
//
// Hazards: a step may only write where `has_room` says so: pages that others hold too are copied by `reserve` first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/plan/fault.h"
#include "engine/plan/page_source.h"
#include "engine/plan/plan.h"
#include "engine/plan/position_pages.h"
#include "engine/plan/recurrent_state.h"

namespace infer::plan {

/// Positions [0, length) are committed; a step writes behind them and `commit` makes them count.
/// Threads: used by one decode at a time, like its source.
/// Memory:  gives its pages back when it ends; the source must outlive it.
class sequence {
 public:
  /// With one paged group.
  sequence(page_source& source, std::uint32_t context);
  sequence(page_source& source, std::span<const state_group> groups, std::uint32_t context);

  std::uint32_t length() const { return length_; }
  std::uint32_t context() const { return context_; }
  std::uint32_t groups() const { return static_cast<std::uint32_t>(groups_.size()); }
  /// Page p of the table holds positions [32p, 32p + 32), or is `no_page` where it lies wholly behind the group's
  /// window. Of a recurrent group: its committed state.
  std::span<const page_index> pages(std::uint32_t group = 0) const;
  /// Where the next step writes the state of a recurrent group.
  page_index shadow(std::uint32_t group) const { return std::get<recurrent_state>(groups_[group]).shadow(); }

  /// Makes room for a step of `more` positions, and where it can stay without being given back for `ahead` ≥ `more`.
  /// Errors:  `past_context`; `no_pages` where the pool is dry. Nothing changes then.
  result<void> reserve(std::uint32_t more, std::uint32_t ahead = 0);
  /// Pages of `group` that `reserve` would take from the source.
  std::uint32_t needs(std::uint32_t group, std::uint32_t more, std::uint32_t ahead = 0) const;
  /// Whether a step may write `more` positions now.
  bool has_room(std::uint32_t more) const;
  /// Counts `more` written positions and gives back pages wholly behind a window.
  void commit(std::uint32_t more);

  /// The largest length ≤ `at_most` to which every group can go back.
  std::uint32_t restorable(std::uint32_t at_most) const;
  /// Goes back to `restorable(to)` positions and returns how many those are; the caller feeds the rest again.
  std::uint32_t truncate(std::uint32_t to);
  /// Another sequence with the first `at` positions, sharing their pages. Errors: `not_restorable`.
  result<sequence> fork(std::uint32_t at) const;
  /// Keeps the present length restorable although windows move on and recurrent state is rewritten. The oldest of more
  /// than `max_checkpoints` is forgotten.
  void checkpoint();
  static constexpr std::size_t max_checkpoints = 4;

  /// The committed state as bytes. `fingerprint` names what must be the same where they are restored: the model, the
  /// types of keys and values, the numerics version. Positions of the last page that were not written are in there as
  /// they are: the bytes are as private as the pool.
  std::vector<std::byte> snapshot(std::uint64_t fingerprint) const;
  /// Errors:  `damaged`; `foreign` where version, fingerprint or groups differ; `past_context`; `no_pages`.
  static result<sequence> restore(page_source& source, std::span<const state_group> groups, std::uint32_t context,
                                  std::uint64_t fingerprint, byte_view bytes);

  /// Becomes a sequence of `length` positions that shares `tables` (one for each group, with `no_page` where nothing is
  /// held). The sequence must be empty.
  void attach(std::uint32_t length, std::span<const std::vector<page_index>> tables);
  /// Shares `page` in the place of the page at `at`, whose bytes it equals.
  void replace(std::uint32_t group, std::size_t at, page_index page);

 private:
  using group_state = std::variant<position_pages, recurrent_state>;
  /// What cannot be had from the present state at an earlier length: windows and recurrent state.
  struct saved_state {
    std::uint32_t length = 0;
    std::vector<std::optional<group_state>> groups;
  };

  std::uint32_t restorable_now(std::uint32_t at_most) const;
  static group_state fork_of(const group_state& state, std::uint32_t at);

  page_source* source_;
  std::uint32_t context_;
  std::uint32_t length_ = 0;
  std::vector<state_group> kinds_;
  std::vector<group_state> groups_;
  std::vector<saved_state> checkpoints_;  // by length
};

}  // namespace infer::plan
