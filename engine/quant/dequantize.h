// Whole runs of blocks to f32, and the check of their scales that loaders make before they trust a tensor.
#pragma once

#include <span>

#include "engine/core/bytes.h"
#include "engine/core/tensor_type.h"
#include "engine/quant/fault.h"

namespace infer::quant {

/// The f32 values of whole blocks, one rounding per written operator: `d*q + m` for g32, `(d*sc)*q - dmin*mn` for g256.
/// Shapes:  `blocks` is n whole blocks of `type`, without padding; `out` is n × elements of a block.
/// Errors:  unsupported_type; size_mismatch.
/// Threads: re-entrant; allocates nothing but for an error's sentence.
/// Accuracy: the same bits as gguf-py's `quants.dequantize`.
result<void> dequantize(tensor_type type, byte_view blocks, std::span<float> out);

/// Checks that every scale and minimum of whole quantized blocks, or every value of a float type, is finite.
/// Errors:  not_finite, with the index of the first element concerned; unsupported_type; size_mismatch.
/// Threads: re-entrant. Memory: reads the scales (or all values of a float type) once.
result<void> check_finite_scales(tensor_type type, byte_view blocks);

}  // namespace infer::quant
