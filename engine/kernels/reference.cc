// The normative kernels, and which tables this CPU runs.
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

const op_table& best_ops() {
  const op_table* fma = reference_fma_ops();
  return fma != nullptr ? *fma : reference_ops();
}

std::span<const op_table* const> all_ops() {
  static const std::array<const op_table*, 2> tables{&reference_ops(), reference_fma_ops()};
  return std::span(tables).first(tables[1] != nullptr ? 2 : 1);
}

}  // namespace infer::kernels
