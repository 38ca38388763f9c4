// Scores and embeddings of prompts.
#include "actors/model/prompt_results.h"

#include <cmath>
#include <limits>
#include <utility>

#include "engine/decode/sampler.h"

namespace infer::actors {

prompt_results::prompt_results(bool scores, msg::pooling pooling, std::uint32_t prompt, std::uint32_t top)
    : scores_(scores), pooling_(pooling), top_(top) {
  // The last position's logits are of the answer's first token.
  needed_ = pools() ? prompt : scores ? prompt - 1 : 0;
}

void prompt_results::take_logits(std::uint32_t position, token_id next, std::span<const float> logits) {
  if (position != seen_ || !incomplete()) return;
  ++seen_;
  scored_.push_back(raw_token_of(next, logits, top_));
}

void prompt_results::take_hidden(std::uint32_t position, std::span<const float> values) {
  if (position != seen_ || !incomplete()) return;
  ++seen_;
  const bool takes = pooling_ == msg::pooling::mean || (pooling_ == msg::pooling::cls && position == 0) ||
                     (pooling_ == msg::pooling::last && seen_ == needed_);
  if (!takes) return;
  pooled_.resize(values.size(), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) pooled_[i] += static_cast<double>(values[i]);
}

std::vector<msg::raw_token> prompt_results::take_scores(token_id first) {
  if (!std::exchange(scores_, false)) return {};
  std::vector<msg::raw_token> out = std::move(scored_);
  out.insert(out.begin(), msg::raw_token{first, std::numeric_limits<float>::quiet_NaN(), {}, {}, {}});
  return out;
}

std::vector<msg::f32_bits> prompt_results::embedding() const {
  double squares = 0;
  for (const double x : pooled_) squares += x * x;
  const double length = std::sqrt(squares);
  std::vector<msg::f32_bits> out;
  out.reserve(pooled_.size());
  for (const double x : pooled_) out.emplace_back(static_cast<float>(length > 0 ? x / length : 0.0));
  return out;
}

msg::raw_token raw_token_of(token_id id, std::span<const float> logits, std::uint32_t top) {
  const auto [maximum, log_sum] = decode::log_sum_exp(logits);
  const float logit = logits[static_cast<std::size_t>(id)];
  msg::raw_token out{id, static_cast<float>(static_cast<double>(logit - maximum) - log_sum), {}, {}, {}};
  if (top == 0) return out;
  for (const auto& [other, logprob] : decode::most_likely(logits, top)) {
    out.top_ids.push_back(other);
    out.top_logprobs.emplace_back(logprob);
  }
  return out;
}

}  // namespace infer::actors
