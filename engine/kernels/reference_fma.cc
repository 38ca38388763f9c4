// The normative kernels compiled with AVX2 and FMA: the same bits, without a library call for each fused multiply-add.
// The headers come first, so that nothing they define is compiled for more than the baseline.
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

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

namespace infer::kernels::reference_fma {
#define INFER_TABLE_NAME "reference_fma"
#include "engine/kernels/reference/bodies-inl.h"
#undef INFER_TABLE_NAME
}  // namespace infer::kernels::reference_fma

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace infer::kernels {
const op_table* reference_fma_ops() {
  static const bool runs = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return runs ? &reference_fma::table : nullptr;
}
}  // namespace infer::kernels

#else

namespace infer::kernels {
const op_table* reference_fma_ops() {
  return nullptr;
}
}  // namespace infer::kernels

#endif
