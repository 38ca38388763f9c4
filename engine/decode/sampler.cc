// The sampling chain.
#include "engine/decode/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "engine/core/elementary.h"
#include "engine/decode/philox.h"

namespace infer::decode {
namespace {

struct better {
  std::span<const float> logits;
  bool operator()(token_id a, token_id b) const { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; }
};

/// Σ exp((logit − max) / temperature) over all tokens by rule 6.
float whole_sum(std::span<const float> logits, float maximum, float inverse_temperature) {
  float total = 0;
  for (std::size_t from = 0; from < logits.size(); from += 512) {
    const std::size_t end = std::min(from + 512, logits.size());
    std::array<float, 16> lanes{};
    for (std::size_t i = from; i < end; ++i) lanes[i % 16] += exp_f32((logits[i] - maximum) * inverse_temperature);
    for (std::size_t step = 8; step > 0; step /= 2) {
      for (std::size_t lane = 0; lane < step; ++lane) lanes[lane] += lanes[lane + step];
    }
    total += lanes[0];
  }
  return total;
}

}  // namespace

std::pair<float, double> log_sum_exp(std::span<const float> logits) {
  const float maximum = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += static_cast<double>(exp_f32(logit - maximum));
  return {maximum, std::log(sum)};
}

std::vector<token_logprob> most_likely(std::span<const float> logits, std::uint32_t count) {
  std::vector<token_id> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t kept = std::min<std::size_t>(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), better{logits});
  const auto [maximum, log_sum] = log_sum_exp(logits);
  std::vector<token_logprob> out;
  out.reserve(kept);
  for (std::size_t i = 0; i < kept; ++i)
    out.push_back({order[i], static_cast<float>(static_cast<double>(logits[order[i]] - maximum) - log_sum)});
  return out;
}

void sampler::rank(std::span<const float> logits, std::size_t count) {
  count = std::min(count, logits.size());
  if (count <= ranked_) return;
  const auto from = order_.begin() + static_cast<std::ptrdiff_t>(ranked_);
  const auto to = order_.begin() + static_cast<std::ptrdiff_t>(count);
  if (to != order_.end()) std::nth_element(from, to, order_.end(), better{logits});
  std::sort(from, to, better{logits});
  ranked_ = count;
}

std::size_t sampler::keep(std::span<const float> logits, const sampling_params& params) {
  std::size_t kept = logits.size();
  if (params.top_k > 0) kept = std::min<std::size_t>(kept, params.top_k);
  rank(logits, 1);
  const float maximum = logits[order_[0]];
  if (params.top_p < 1) {
    float total = 0;
    if (kept == logits.size()) {
      total = whole_sum(logits, maximum, 1);
    } else {
      rank(logits, kept);
      for (std::size_t i = 0; i < kept; ++i) total += exp_f32(logits[order_[i]] - maximum);
    }
    const float enough = params.top_p * total;
    float sum = 0;
    std::size_t prefix = 0;
    while (prefix < kept && (prefix == 0 || sum < enough)) {
      if (prefix == ranked_) rank(logits, std::max<std::size_t>(64, ranked_ * 4));
      sum += exp_f32(logits[order_[prefix]] - maximum);
      ++prefix;
    }
    kept = prefix;
  }
  if (params.min_p > 0) {
    std::size_t prefix = 1;
    while (prefix < kept) {
      if (prefix == ranked_) rank(logits, std::max<std::size_t>(64, ranked_ * 4));
      if (exp_f32(logits[order_[prefix]] - maximum) < params.min_p) break;
      ++prefix;
    }
    kept = prefix;
  }
  return kept;
}

token_id sampler::draw(std::span<const float> logits, const sampling_params& params, std::uint32_t position) {
  order_.resize(logits.size());
  std::iota(order_.begin(), order_.end(), 0);
  ranked_ = 0;
  const std::size_t kept = keep(logits, params);
  const float maximum = logits[order_[0]];
  const float inverse = 1.0f / params.temperature;
  float total = 0;
  if (kept == logits.size()) {
    total = whole_sum(logits, maximum, inverse);
  } else {
    rank(logits, kept);
    for (std::size_t i = 0; i < kept; ++i) total += exp_f32((logits[order_[i]] - maximum) * inverse);
  }
  const float target = uniform_draw(params.seed, params.choice, position, 0) * total;
  float sum = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    if (i == ranked_) rank(logits, std::max<std::size_t>(64, ranked_ * 4));
    sum += exp_f32((logits[order_[i]] - maximum) * inverse);
    if (sum > target) return order_[i];
  }
  return order_[kept - 1];
}

sampled_token sampler::sample(std::span<const float> logits, const sampling_params& params, std::uint32_t position,
                              std::uint32_t top) {
  sampled_token out;
  // A temperature whose inverse is not finite is greedy in effect; max_element returns the first of equals.
  if (params.temperature < 1e-30f)
    out.token.id = static_cast<token_id>(std::ranges::max_element(logits) - logits.begin());
  else
    out.token.id = draw(logits, params, position);
  const auto [maximum, log_sum] = log_sum_exp(logits);
  out.token.logprob = static_cast<float>(static_cast<double>(logits[out.token.id] - maximum) - log_sum);
  if (top > 0) out.top = most_likely(logits, top);
  return out;
}

}  // namespace infer::decode
