// How the kernels of this CPU would keep a model's weights: a door for programs, which do not see the kernels.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/kernels/ops.h"
#include "engine/plan/weights.h"

namespace infer::decode {

/// How the codes of a weight lie.
enum class weight_layout : std::uint8_t {
  dequantized,   // a vector, as f32
  rows,          // rows as in the file
  floats,        // panels of 16 rows, column after column
  nibbles,       // panels, two codes a byte
  nibbles_bits,  // panels, nibbles and the bits that are left over
  bytes,         // panels, a code a byte
};

/// "nibbles", "nibbles and bits", …
std::string_view name_of(weight_layout layout);

weight_layout layout_of(const plan::weight_source& weight, const kernels::op_table& ops = kernels::best_ops());

struct layout_sum {
  tensor_type type{};
  weight_layout layout{};
  std::uint64_t weights = 0, elements = 0;
  std::uint64_t bytes = 0;  // as they are kept
};

/// All weights of a table by type and layout; the bytes add up to `weight_bytes`.
std::vector<layout_sum> layouts_of(const plan::weight_table& weights,
                                   const kernels::op_table& ops = kernels::best_ops());

/// The name of the table that executors take on this CPU.
std::string_view kernels_name();

}  // namespace infer::decode
