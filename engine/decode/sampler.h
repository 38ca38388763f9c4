// From logits to a token: bias, then the chain of penalties, filters and temperature, then a draw.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/ids.h"
#include "engine/decode/candidates.h"
#include "engine/decode/sampling_params.h"

namespace infer::decode {

/// A token and the natural logarithm of its probability under the model's own distribution (before any filter and
/// before temperature).
struct token_logprob {
  token_id id = 0;
  float logprob = 0;
};

/// Where a token is drawn.
struct sampling_place {
  std::uint32_t position = 0;                // in the answer; the draw's place
  std::span<const token_id> history = {};    // prompt and answer so far, which penalties read
  std::span<const token_id> forbidden = {};  // never these
  float state = 0;                           // of the token before; of the first first_state()
};

struct sampled_token {
  token_logprob token;
  std::vector<token_logprob> top;  // the most likely tokens, best first
  float state = 0;                 // what the next token's place needs: Mirostat's bound, else 0
};

/// The state before the first token of an answer.
float first_state(const sampling_params& params) noexcept;

/// Picks tokens. The result depends on logits, parameters and place alone, not on earlier calls: whoever goes on from a
/// log of tokens needs the log and the last one's state.
///
/// Candidates are ordered by logit descending, then id ascending. Biases come first, then the stages in their order,
/// each on what the one before left; probabilities are those of the candidates that are left. With Mirostat the chain
/// is penalties and dry as far as they are named, the temperature, and Mirostat's own filter. The draw walks the
/// candidates in order; sums over a prefix run in f32 in that order, the sum over a whole vocabulary by rule 6 of the
/// numeric contract. Draw 0 of a position picks the token, draw 1 says whether xtc happens.
/// Threads: one caller at a time. Memory: keeps the order and a copy of one vocabulary as scratch.
class sampler {
 public:
  /// `top` is how many alternatives to report. Needs finite logits.
  sampled_token sample(std::span<const float> logits, const sampling_params& params, const sampling_place& place,
                       std::uint32_t top = 0);

 private:
  void apply(sampling_stage stage, const sampling_params& params, const sampling_place& place);
  void filter(const sampling_params& params, const sampling_place& place);
  token_id draw(const sampling_params& params, std::uint32_t position);

  candidates candidates_;
};

/// Logarithm of Σ exp(logit), as the pair (largest logit, log of the sum relative to it) in f64.
std::pair<float, double> log_sum_exp(std::span<const float> logits);

/// The `count` most likely tokens with their log-probabilities, best first; ties by id.
std::vector<token_logprob> most_likely(std::span<const float> logits, std::uint32_t count);

}  // namespace infer::decode
