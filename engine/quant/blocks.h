// The two canonical forms that every quantized block unpacks to, and which type has which. Unpacking is in unpack.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/core/tensor_type.h"

namespace infer::quant {

/// How a type enters the numeric contract.
enum class canonical_form {
  floating,  // plain floats: one chain of fused multiply-adds in f32
  g32,       // one scale, and a minimum for some, per 32 elements
  g256,      // one scale per 256 elements and a small integer scale per 16 inside it
};

inline constexpr std::size_t g32_elements = 32;
inline constexpr std::size_t g256_elements = 256;
/// Elements that share one integer scale. Q4_K, Q5_K and IQ4_XS share one among 32: each is written twice.
inline constexpr std::size_t g256_sub_elements = 16;
inline constexpr std::size_t g256_subs = g256_elements / g256_sub_elements;

/// value[i] = d*q[i] + m, and d*q[i] where the type has no minimum (m is +0 then and not to be added: -0 stays -0).
/// Ranges: Q4_0 -8..7, Q4_1 0..15, Q5_0 -16..15, Q5_1 0..31, Q8_0 -128..127, IQ4_NL -127..113, MXFP4 -12..12.
struct g32_block {
  float d;
  float m;
  std::array<std::int8_t, g32_elements> q;
};

/// value[i] = (d*sc[i/16])*q[i] - dmin*mn[i/16], without the second term where the type has no minimum (dmin and mn are
/// 0 then). Ranges: Q2_K q 0..3, sc and mn 0..15; Q3_K q -4..3, sc -32..31; Q4_K q 0..15 and Q5_K q 0..31, sc and mn
/// 0..63; Q6_K q -32..31, sc -128..127; IQ4_XS q -127..113, sc -32..31.
struct g256_block {
  float d;
  float dmin;
  std::array<std::int8_t, g256_subs> sc;
  std::array<std::int8_t, g256_subs> mn;
  std::array<std::int8_t, g256_elements> q;
};

/// The types that weights can be computed with.
inline constexpr std::array supported_types{
    tensor_type::f32,  tensor_type::f16,    tensor_type::bf16,   tensor_type::q4_0,
    tensor_type::q4_1, tensor_type::q5_0,   tensor_type::q5_1,   tensor_type::q8_0,
    tensor_type::q2_k, tensor_type::q3_k,   tensor_type::q4_k,   tensor_type::q5_k,
    tensor_type::q6_k, tensor_type::iq4_nl, tensor_type::iq4_xs, tensor_type::mxfp4,
};

constexpr bool supported(tensor_type type) noexcept {
  return std::ranges::find(supported_types, type) != supported_types.end();
}

/// The form of a supported type.
constexpr canonical_form form_of(tensor_type type) noexcept {
  switch (type) {
    case tensor_type::q4_0:
    case tensor_type::q4_1:
    case tensor_type::q5_0:
    case tensor_type::q5_1:
    case tensor_type::q8_0:
    case tensor_type::iq4_nl:
    case tensor_type::mxfp4:
      return canonical_form::g32;
    case tensor_type::q2_k:
    case tensor_type::q3_k:
    case tensor_type::q4_k:
    case tensor_type::q5_k:
    case tensor_type::q6_k:
    case tensor_type::iq4_xs:
      return canonical_form::g256;
    default:
      return canonical_form::floating;
  }
}

/// Whether the values of a supported type have an additive term beside scale times code.
constexpr bool has_minimum(tensor_type type) noexcept {
  switch (type) {
    case tensor_type::q4_1:
    case tensor_type::q5_1:
    case tensor_type::q2_k:
    case tensor_type::q4_k:
    case tensor_type::q5_k:
      return true;
    default:
      return false;
  }
}

}  // namespace infer::quant
