// The SIMD bodies for every target, and which tables this CPU runs. Equal to the normative bodies to the bit.
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

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
#if HWY_TARGET == HWY_AVX3_DL
#include "engine/kernels/simd/linear_tiles-inl.h"
#endif
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
  t.gelu = gelu;
  t.softcap = softcap;
  return t;
}

inline constexpr op_table simd_table = make_table();
const op_table* table() {
  return &simd_table;
}

#if HWY_TARGET == HWY_AVX3_DL
constexpr op_table make_tiles_table() {
  op_table t = simd_table;
  t.name = "avx512_amx";
  t.linear = linear_tiles;
  return t;
}
inline constexpr op_table amx_table = make_tiles_table();
const op_table* tiles_table() {
  return &amx_table;
}
#endif

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

/// Whether this CPU multiplies tiles of bytes and the system lets this process use them.
bool may_use_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned tile_bit = 1u << 24, byte_bit = 1u << 25;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & tile_bit) == 0 || (d & byte_bit) == 0) return false;
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

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
  if (supported & HWY_AVX3_DL) {
    out.push_back(N_AVX3_DL::table());
    if (may_use_tiles()) out.push_back(N_AVX3_DL::tiles_table());
  }
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
