// Weights for tests: random blocks of every supported type, and simple quantizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/tensor_type.h"

namespace infer::test_support {

/// `count` values in [-amplitude, amplitude), the same on every machine.
std::vector<float> random_floats(std::size_t count, std::uint32_t seed, float amplitude = 1.0f);

/// `count` blocks of a supported type: random codes and integer scales, finite f16 scales such that values lie roughly
/// within ±1. The same bytes on every machine.
std::vector<std::byte> random_blocks(tensor_type type, std::size_t count, std::uint32_t seed);

/// Whether `quantize` knows the type.
bool has_quantizer(tensor_type type);

/// Rounds values to F32, F16, BF16, Q4_0, Q4_1, Q5_0 or Q8_0. `values` must fill whole blocks.
std::vector<std::byte> quantize(tensor_type type, std::span<const float> values);

}  // namespace infer::test_support
