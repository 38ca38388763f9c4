// How many tokens fit into a given time, from how long the last steps took.
#pragma once

#include <chrono>
#include <cstdint>

namespace infer::actors {

/// Threads: one.
class prefill_pace {
 public:
  /// A step with prompt tokens computed `tokens` in all. Steps that took no measurable time are ignored.
  void note(std::uint32_t tokens, std::chrono::nanoseconds took);
  /// Tokens that a step of `budget` is predicted to compute; at least `fewest`.
  std::uint32_t tokens_within(std::chrono::nanoseconds budget) const;

  static constexpr std::uint32_t fewest = 8;
  static constexpr std::uint32_t unmeasured = 64;  // where nothing is known yet

 private:
  double nanoseconds_per_token_ = 0;
};

}  // namespace infer::actors
