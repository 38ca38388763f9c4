// The filters.
#include "engine/decode/filters.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace infer::decode {

float power_f32(float base, float exponent) noexcept {
  if (exponent == 0) return 1;
  if (base < 1e-37f) return 0;
  return exp_f32(exponent * log_f32(base));
}

void keep_top_k(candidates& c, std::uint32_t k) {
  if (k > 0 && k < c.size()) c.keep_first(k);
}

void keep_top_p(candidates& c, float p, std::uint32_t min_keep) {
  if (p >= 1) return;
  const float enough = p * c.total();
  float sum = 0;
  std::size_t kept = 0;
  while (kept < c.size() && (kept == 0 || sum < enough || kept < min_keep)) sum += c.weight(c.at(kept++));
  c.keep_first(kept);
}

void keep_min_p(candidates& c, float p, std::uint32_t min_keep) {
  if (p <= 0) return;
  std::size_t kept = 1;
  while (kept < c.size() && (kept < min_keep || c.weight(c.at(kept)) >= p)) ++kept;
  c.keep_first(kept);
}

void keep_typical(candidates& c, float p, std::uint32_t min_keep) {
  if (p >= 1 || c.size() < 2) return;
  struct scored {
    double score;
    std::size_t rank;
    token_id id;
  };
  const float total = c.total();
  const double log_total = log_f32(total);
  const double entropy = c.entropy();
  std::vector<scored> order;
  order.reserve(c.size());
  for (const token_id id : c.ordered()) {
    const double log_probability = static_cast<double>(c.exponent(id)) - log_total;
    order.push_back({std::fabs(-log_probability - entropy), order.size(), id});
  }
  std::ranges::sort(order, {}, [](const scored& one) { return std::pair(one.score, one.rank); });
  const float enough = p * total;
  std::vector<token_id> chosen;
  float sum = 0;
  for (const scored& one : order) {
    chosen.push_back(one.id);
    sum += c.weight(one.id);
    if (sum > enough && chosen.size() >= min_keep) break;
  }
  c.keep(chosen);
}

void keep_top_n_sigma(candidates& c, float n) {
  if (!(n > 0) || c.size() < 2) return;
  const double least = static_cast<double>(c.logit(c.at(0))) * c.factor() - n * c.scaled_spread().deviation;
  std::size_t kept = 1;
  while (kept < c.size() && static_cast<double>(c.logit(c.at(kept))) * c.factor() >= least) ++kept;
  c.keep_first(kept);
}

void drop_top_choices(candidates& c, float threshold, std::uint32_t min_keep) {
  if (threshold > 0.5f || c.size() < 2) return;
  const float least = threshold * c.total();
  std::size_t above = 0;
  while (above < c.size() && c.weight(c.at(above)) >= least) ++above;
  if (above < 2) return;
  const std::size_t drop = above - 1;
  if (c.size() - drop >= min_keep) c.drop_first(drop);
}

void apply_temperature(candidates& c, float temperature, float range, float exponent) {
  if (range > 0) {
    if (c.size() < 2) return;
    const float low = std::max(0.0f, temperature - range), high = temperature + range;
    const float most = log_f32(static_cast<float>(c.size()));
    const float share = std::clamp(static_cast<float>(c.entropy()) / most, 0.0f, 1.0f);
    temperature = low + (high - low) * power_f32(share, exponent);
  }
  // One whose inverse is not finite is greedy in effect.
  if (temperature < 1e-30f) return c.keep_first(1);
  c.divide(temperature);
}

}  // namespace infer::decode
