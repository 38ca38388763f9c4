// A running mean over steps, the last one counting half.
#include "actors/model/prefill_pace.h"

#include <algorithm>
#include <limits>

namespace infer::actors {

void prefill_pace::note(std::uint32_t tokens, std::chrono::nanoseconds took) {
  if (tokens == 0 || took.count() <= 0) return;
  const double now = static_cast<double>(took.count()) / tokens;
  nanoseconds_per_token_ = nanoseconds_per_token_ == 0 ? now : 0.5 * (nanoseconds_per_token_ + now);
}

std::uint32_t prefill_pace::tokens_within(std::chrono::nanoseconds budget) const {
  if (nanoseconds_per_token_ == 0) return unmeasured;
  const double tokens = static_cast<double>(budget.count()) / nanoseconds_per_token_;
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  return std::max(fewest, static_cast<std::uint32_t>(std::min(tokens, most)));
}

}  // namespace infer::actors
