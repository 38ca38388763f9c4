// What removes candidates, and the temperature. Every filter leaves at least one.
#pragma once

#include <cstdint>

#include "engine/decode/candidates.h"
#include "engine/decode/sampling_params.h"

namespace infer::decode {

/// The k best; 0: all.
void keep_top_k(candidates& c, std::uint32_t k);
/// The shortest prefix whose probability reaches `p`. Source: Holtzman et al., "The Curious Case of Neural Text
/// Degeneration", 2020.
void keep_top_p(candidates& c, float p, std::uint32_t min_keep);
/// Those with probability ≥ p · the best. Source: Nguyen et al., "Turning Up the Heat: Min-p Sampling", 2024.
void keep_min_p(candidates& c, float p, std::uint32_t min_keep);
/// In ascending order of |−log probability − entropy| (then as candidates are ordered) the fewest whose probability
/// exceeds `p`. Source: Meister et al., "Locally Typical Sampling", 2022.
void keep_typical(candidates& c, float p, std::uint32_t min_keep);
/// Those whose logit is at least the best minus n standard deviations. Source: Tang et al., "Top-nσ: Not All Logits Are
/// You Need", 2024.
void keep_top_n_sigma(candidates& c, float n);
/// Exclude top choices: of those with probability ≥ `threshold` only the least likely stays.
void drop_top_choices(candidates& c, float threshold, std::uint32_t min_keep);

/// Divides by the temperature. With a range by one between temperature − range and temperature + range, the higher the
/// nearer the entropy is to its maximum: low + (high − low) · (entropy / log count)^exponent. A temperature of zero
/// leaves the best.
void apply_temperature(candidates& c, float temperature, float range, float exponent);

/// baseᵉˣᵖᵒⁿᵉⁿᵗ for a base that is not negative.
float power_f32(float base, float exponent) noexcept;

}  // namespace infer::decode
