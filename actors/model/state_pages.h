// The pages of one model as its sequences see them: what the pool holds, what is kept of texts that ended, and what the
// account of memory still has.
#pragma once

#include <cstdint>
#include <span>

#include "actors/model/model_core.h"

namespace infer::actors {

/// Threads: decode's.
class state_pages {
 public:
  explicit state_pages(model_core& core) : core_(core) {}

  /// Reserves as `sequence::reserve` does, after taking what the pool lacks: first from the account of memory, then
  /// from kept pages that nobody uses. False where that is not enough.
  bool make_room(plan::sequence& sequence, std::uint32_t more, std::uint32_t ahead = 0);
  /// Pages of a group that are free or can be at once without taking memory.
  std::uint32_t available(std::uint32_t group) const;

 private:
  bool can_have(std::uint32_t group, std::uint32_t pages) const;
  std::uint32_t growable(std::uint32_t group) const;
  void grow(std::uint32_t group, std::uint32_t pages);

  model_core& core_;
};

}  // namespace infer::actors
