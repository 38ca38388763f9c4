// The SIMD bodies for every target, and which tables this CPU runs. Equal to the normative bodies to the bit.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/elementary.h"
#include "engine/core/half.h"
#include "engine/kernels/ops.h"
#include "engine/kernels/tuning.h"
#include "engine/quant/packed.h"
#include "engine/quant/unpack.h"

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/simd.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#undef HWY_UNROLL
#if defined(__clang__)
#define HWY_UNROLL(n) _Pragma("unroll")
#else
#define INFER_PRAGMA(text) _Pragma(#text)
#define HWY_UNROLL(n) INFER_PRAGMA(GCC unroll n)
#endif

HWY_BEFORE_NAMESPACE();
#if HWY_TARGET == HWY_AVX3_DL && !defined(__clang__)
// Highway's name for this target lacks the byte dot products that every CPU of it has.
#pragma GCC push_options
#pragma GCC target("avx512vnni")
#endif

namespace infer::kernels {
namespace HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL

#if HWY_TARGET == HWY_AVX3_DL
#define INFER_TABLE_NAME "avx512_vnni"
#elif HWY_TARGET == HWY_AVX3
#define INFER_TABLE_NAME "avx512"
#else
#define INFER_TABLE_NAME "avx2"
#endif

namespace plain {
#include "engine/kernels/reference/bodies-inl.h"
}  // namespace plain
using plain::chunk_elements;
using plain::fold_lanes;
using plain::max_head_dim;
using plain::sum_lanes;

#include "engine/kernels/simd/vectors-inl.h"
//
#include "engine/kernels/simd/linear-inl.h"
//
#include "engine/kernels/simd/pointwise-inl.h"
//
#include "engine/kernels/simd/attention-inl.h"
#include "engine/kernels/simd/quantize-inl.h"

constexpr op_table make_table() {
  op_table t = plain::table;
  t.pack = quant::pack_kind::r16k4;
  t.embed_row = embed_row;
  t.quantize_g32 = quantize_g32;
  t.quantize_g256 = quantize_g256;
  t.linear = linear;
  t.attention = attention;
  t.rms_norm = rms_norm;
  t.layer_norm = layer_norm;
  t.silu_gate = silu_gate;
  t.gelu_gate = gelu_gate;
  t.gelu_erf_gate = gelu_erf_gate;
  t.silu = silu;
  t.gelu = gelu;
  t.gelu_erf = gelu_erf;
  t.softcap = softcap;
  return t;
}

inline constexpr op_table simd_table = make_table();
const op_table* table() {
  return &simd_table;
}

#undef INFER_TABLE_NAME
#else
const op_table* table() {
  return nullptr;
}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace infer::kernels

#if HWY_TARGET == HWY_AVX3_DL && !defined(__clang__)
#pragma GCC pop_options
#endif
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infer::kernels {
namespace {

/// Tables of this build that this CPU runs, slowest first.
std::vector<const op_table*> runnable_tables() {
  std::vector<const op_table*> out{&reference_ops()};
  if (reference_fma_ops() != nullptr) out.push_back(reference_fma_ops());
  [[maybe_unused]] const auto supported = hwy::SupportedTargets();
#if HWY_TARGETS & HWY_AVX2
  if (supported & HWY_AVX2) out.push_back(N_AVX2::table());
#endif
#if HWY_TARGETS & HWY_AVX3
  if (supported & HWY_AVX3) out.push_back(N_AVX3::table());
#endif
#if HWY_TARGETS & HWY_AVX3_DL
  if (supported & HWY_AVX3_DL) out.push_back(N_AVX3_DL::table());
#endif
  return out;
}

}  // namespace

std::span<const op_table* const> all_ops() {
  static const std::vector<const op_table*> tables = runnable_tables();
  return tables;
}

const op_table& best_ops() {
  return *all_ops().back();
}

}  // namespace infer::kernels
#endif
