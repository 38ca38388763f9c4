// From logits to a token: the default chain top-k, top-p, min-p, temperature.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/ids.h"

namespace infer::decode {

/// Off values: top_k 0, top_p 1, min_p 0. Temperature 0 is greedy.
struct sampling_params {
  float temperature = 1;
  std::uint32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  std::uint64_t seed = 0;
  std::uint32_t choice = 0;
};

/// A token and the natural logarithm of its probability under the model's own distribution (before any filter and
/// before temperature).
struct token_logprob {
  token_id id = 0;
  float logprob = 0;
};

struct sampled_token {
  token_logprob token;
  std::vector<token_logprob> top;  // the most likely tokens, best first
};

/// Picks tokens. The result depends on logits, parameters and the output position alone, not on earlier calls.
///
/// Candidates are ordered by logit descending, then id ascending; every filter keeps a prefix of that order:
/// top-k the first k; top-p the shortest whose probability reaches top_p (of what top-k kept, at temperature 1);
/// min-p those with probability ≥ min_p · the best. At least one stays. Sums over a prefix run in f32 in that order;
/// the sum over a whole vocabulary runs by rule 6 of the numeric contract. Threads: one caller at a time. Memory: keeps
/// the order of one vocabulary as scratch.
class sampler {
 public:
  /// `top` is how many alternatives to report. Needs finite logits.
  sampled_token sample(std::span<const float> logits, const sampling_params& params, std::uint32_t position,
                       std::uint32_t top = 0);

 private:
  /// Puts the best `count` candidates in order at the front of `order_`.
  void rank(std::span<const float> logits, std::size_t count);
  std::size_t keep(std::span<const float> logits, const sampling_params& params);
  token_id draw(std::span<const float> logits, const sampling_params& params, std::uint32_t position);

  std::vector<token_id> order_;
  std::size_t ranked_ = 0;
};

/// Logarithm of Σ exp(logit), as the pair (largest logit, log of the sum relative to it) in f64.
std::pair<float, double> log_sum_exp(std::span<const float> logits);

/// The `count` most likely tokens with their log-probabilities, best first; ties by id.
std::vector<token_logprob> most_likely(std::span<const float> logits, std::uint32_t count);

}  // namespace infer::decode
