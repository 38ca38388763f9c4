// The normative kernels.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/core/bytes.h"
#include "engine/core/elementary.h"
#include "engine/core/half.h"
#include "engine/kernels/ops.h"
#include "engine/quant/unpack.h"

namespace infer::kernels {
namespace reference {
#define INFER_TABLE_NAME "reference"
#include "engine/kernels/reference/bodies-inl.h"
#undef INFER_TABLE_NAME
}  // namespace reference

const op_table& reference_ops() {
  return reference::table;
}

}  // namespace infer::kernels
