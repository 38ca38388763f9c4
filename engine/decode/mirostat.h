// Mirostat: keeps the surprise of a text near a target by moving a bound on the surprise of its tokens.
#pragma once

#include "engine/decode/candidates.h"
#include "engine/decode/sampling_params.h"

namespace infer::decode {

/// The bound before the first token: twice the target.
float first_bound(const sampling_params& params) noexcept;

/// Version 1: an estimate of the distribution's exponent from its 100 best says how many stay under `bound`.
/// Version 2: those stay whose surprise, −log₂ of the probability, does not exceed `bound`.
/// Source: Basu et al., "Mirostat: A Neural Text Decoding Algorithm that Directly Controls Perplexity", 2021, and its
/// authors' second version.
void keep_mirostat(candidates& c, const sampling_params& params, float bound);

/// The bound for the next token: bound − η · (surprise of the picked one among what was kept − τ).
float next_bound(candidates& c, const sampling_params& params, float bound, token_id picked);

}  // namespace infer::decode
