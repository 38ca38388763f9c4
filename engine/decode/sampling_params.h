// How to pick a token: every parameter of the sampling chain with the value at which it does nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/core/ids.h"

namespace infer::decode {

class sequence_breakers;

/// The steps of the chain. `penalties`, `dry` and `temperature` change logits, the others remove candidates.
enum class sampling_stage : std::uint8_t {
  penalties,
  dry,
  top_n_sigma,
  top_k,
  typical,
  top_p,
  min_p,
  xtc,
  temperature
};

/// The order of the chain unless another is asked for.
inline const std::vector<sampling_stage> default_stages = {
    sampling_stage::penalties, sampling_stage::dry,     sampling_stage::top_n_sigma,
    sampling_stage::top_k,     sampling_stage::typical, sampling_stage::top_p,
    sampling_stage::min_p,     sampling_stage::xtc,     sampling_stage::temperature};

struct token_bias {
  token_id id = 0;
  float bias = 0;  // added to the logit; −infinity: never this token
};

/// Off values are the defaults, but for `temperature`: 0 is greedy. Counts of −1 mean "all of the text so far".
struct sampling_params {
  float temperature = 1;
  std::uint32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  std::uint64_t seed = 0;
  std::uint32_t choice = 0;

  float typical_p = 1;
  float top_n_sigma = -1;  // ≤ 0: off
  float xtc_probability = 0, xtc_threshold = 0.1f;
  float dynamic_range = 0, dynamic_exponent = 1;  // of the temperature, by entropy
  std::uint32_t min_keep = 0;                     // candidates that top-p, min-p, typical and xtc leave at least

  float repeat_penalty = 1, presence_penalty = 0, frequency_penalty = 0;
  std::int32_t repeat_last_n = 64;
  float dry_multiplier = 0, dry_base = 1.75f;
  std::uint32_t dry_allowed_length = 2;
  std::int32_t dry_last_n = -1;
  std::shared_ptr<const sequence_breakers> dry_breakers;  // none: nothing breaks a repetition
  std::vector<token_bias> biases;                         // ids outside the vocabulary count for nothing

  std::uint8_t mirostat = 0;  // 0: off; 1, 2: the version that takes the place of the filters
  float mirostat_tau = 5, mirostat_eta = 0.1f;

  std::vector<sampling_stage> stages = default_stages;  // what is not named does not happen
};

}  // namespace infer::decode
