// The sampling chain.
#include "engine/decode/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/core/elementary.h"
#include "engine/decode/filters.h"
#include "engine/decode/mirostat.h"
#include "engine/decode/philox.h"
#include "engine/decode/repetition.h"

namespace infer::decode {
namespace {

bool has_repeat_penalties(const sampling_params& p) {
  return p.repeat_last_n != 0 && (p.repeat_penalty != 1 || p.presence_penalty != 0 || p.frequency_penalty != 0);
}

bool has_dry(const sampling_params& p) {
  return p.dry_multiplier != 0 && p.dry_base >= 1 && p.dry_last_n != 0;
}

bool is_named(const sampling_params& p, sampling_stage stage) {
  return std::ranges::find(p.stages, stage) != p.stages.end();
}

/// Nothing changes which token is the best, and the best is taken.
bool takes_the_best(const sampling_params& p, const sampling_place& place) {
  return p.temperature < 1e-30f && p.dynamic_range <= 0 && is_named(p, sampling_stage::temperature) &&
         p.mirostat == 0 && p.biases.empty() && place.forbidden.empty() && !has_repeat_penalties(p) && !has_dry(p) &&
         p.typical_p >= 1 && p.xtc_probability <= 0;
}

void add_biases(candidates& c, const sampling_params& p, const sampling_place& place) {
  if (p.biases.empty() && place.forbidden.empty()) return;
  const std::span<float> logits = c.change();
  const auto known = [&](token_id id) { return id >= 0 && static_cast<std::size_t>(id) < logits.size(); };
  for (const token_bias& b : p.biases) {
    if (known(b.id)) logits[static_cast<std::size_t>(b.id)] += b.bias;
  }
  for (const token_id id : place.forbidden) {
    if (known(id)) logits[static_cast<std::size_t>(id)] = -std::numeric_limits<float>::infinity();
  }
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
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](token_id a, token_id b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  const auto [maximum, log_sum] = log_sum_exp(logits);
  std::vector<token_logprob> out;
  out.reserve(kept);
  for (std::size_t i = 0; i < kept; ++i)
    out.push_back({order[i], static_cast<float>(static_cast<double>(logits[order[i]] - maximum) - log_sum)});
  return out;
}

float first_state(const sampling_params& params) noexcept {
  return params.mirostat == 0 ? 0.0f : first_bound(params);
}

void sampler::apply(sampling_stage stage, const sampling_params& p, const sampling_place& place) {
  candidates& c = candidates_;
  switch (stage) {
    case sampling_stage::penalties:
      if (has_repeat_penalties(p) && !place.history.empty()) penalize_repeats(c.change(), place.history, p);
      return;
    case sampling_stage::dry:
      if (has_dry(p) && !place.history.empty()) penalize_runs(c.change(), place.history, p);
      return;
    case sampling_stage::top_n_sigma:
      return keep_top_n_sigma(c, p.top_n_sigma);
    case sampling_stage::top_k:
      return keep_top_k(c, p.top_k);
    case sampling_stage::typical:
      return keep_typical(c, p.typical_p, p.min_keep);
    case sampling_stage::top_p:
      return keep_top_p(c, p.top_p, p.min_keep);
    case sampling_stage::min_p:
      return keep_min_p(c, p.min_p, p.min_keep);
    case sampling_stage::xtc:
      if (p.xtc_probability > 0 && uniform_draw(p.seed, p.choice, place.position, 1) < p.xtc_probability)
        drop_top_choices(c, p.xtc_threshold, p.min_keep);
      return;
    case sampling_stage::temperature:
      return apply_temperature(c, p.temperature, p.dynamic_range, p.dynamic_exponent);
  }
}

void sampler::filter(const sampling_params& p, const sampling_place& place) {
  add_biases(candidates_, p, place);
  if (p.mirostat == 0) {
    for (const sampling_stage stage : p.stages) apply(stage, p, place);
    return;
  }
  for (const sampling_stage stage : p.stages) {
    if (stage == sampling_stage::penalties || stage == sampling_stage::dry) apply(stage, p, place);
  }
  apply_temperature(candidates_, p.temperature, 0, 1);
  keep_mirostat(candidates_, p, place.state);
}

token_id sampler::draw(const sampling_params& p, std::uint32_t position) {
  candidates& c = candidates_;
  if (c.size() == 1) return c.at(0);
  const float target = uniform_draw(p.seed, p.choice, position, 0) * c.total();
  float sum = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const token_id id = c.at(i);
    sum += c.weight(id);
    if (sum > target) return id;
  }
  return c.at(c.size() - 1);
}

sampled_token sampler::sample(std::span<const float> logits, const sampling_params& params, const sampling_place& place,
                              std::uint32_t top) {
  sampled_token out;
  if (takes_the_best(params, place)) {
    // max_element returns the first of equals.
    out.token.id = static_cast<token_id>(std::ranges::max_element(logits) - logits.begin());
  } else {
    candidates_.reset(logits);
    filter(params, place);
    out.token.id = draw(params, place.position);
    if (params.mirostat != 0) out.state = next_bound(candidates_, params, place.state, out.token.id);
  }
  const auto [maximum, log_sum] = log_sum_exp(logits);
  out.token.logprob = static_cast<float>(static_cast<double>(logits[out.token.id] - maximum) - log_sum);
  if (top > 0) out.top = most_likely(logits, top);
  return out;
}

}  // namespace infer::decode
