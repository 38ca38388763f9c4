// Both versions of Mirostat.
#include "engine/decode/mirostat.h"

#include <algorithm>
#include <cmath>

#include "engine/decode/filters.h"

namespace infer::decode {
namespace {

constexpr float log_of_two = 0.693147180559945309f;
constexpr std::size_t estimated_from = 100;

/// The exponent of a power law through the best probabilities, by least squares.
float estimated_exponent(candidates& c) {
  const std::size_t count = std::min(estimated_from, c.size());
  float products = 0, squares = 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const float rank = static_cast<float>(i);
    const float t = log_f32((rank + 2) / (rank + 1));
    const float b = c.exponent(c.at(i)) - c.exponent(c.at(i + 1));
    products += t * b;
    squares += t * t;
  }
  return products / squares;
}

/// How many of the best stay: ((ε·2^bound) / (1 − N^−ε))^(1/s) with ε = s − 1.
float estimated_count(candidates& c, float bound) {
  const float s = estimated_exponent(c);
  const float epsilon = s - 1;
  const auto n = static_cast<float>(c.vocabulary());
  const float inner = (epsilon * power_f32(2, bound)) / (1 - power_f32(n, -epsilon));
  return power_f32(inner, 1 / s);
}

}  // namespace

float first_bound(const sampling_params& params) noexcept {
  return 2 * params.mirostat_tau;
}

void keep_mirostat(candidates& c, const sampling_params& params, float bound) {
  if (c.size() < 2) return;
  if (params.mirostat == 1) {
    const float count = estimated_count(c, bound);
    // Where the estimate is no number all stay.
    if (count < static_cast<float>(c.size())) c.keep_first(static_cast<std::size_t>(std::max(count, 1.0f)));
    return;
  }
  const float log_total = log_f32(c.total());
  std::size_t kept = 1;
  while (kept < c.size() && (log_total - c.exponent(c.at(kept))) / log_of_two <= bound) ++kept;
  c.keep_first(kept);
}

float next_bound(candidates& c, const sampling_params& params, float bound, token_id picked) {
  const float surprise = (log_f32(c.total()) - c.exponent(picked)) / log_of_two;
  return bound - params.mirostat_eta * (surprise - params.mirostat_tau);
}

}  // namespace infer::decode
