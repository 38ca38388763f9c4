// What can be wrong with the numbers of a weight tensor.
#pragma once

#include "engine/core/result.h"

namespace infer::quant {

enum class fault {
  unsupported_type = 1,  // a type that this program cannot compute with
  size_mismatch,         // bytes are not whole blocks, or not as many as the values asked for
  not_finite,            // a scale, a minimum or a float weight is infinite or not a number
};

}  // namespace infer::quant

INFER_FAULT_ENUM(infer::quant, fault, "weights");
