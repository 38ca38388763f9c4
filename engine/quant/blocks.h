// The two canonical forms that every quantized block unpacks to, and which type has which. Unpacking is in unpack.h.
#pragma once

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
/// Elements that share one integer scale. Q4_K shares one among 32: each is written twice.
inline constexpr std::size_t g256_sub_elements = 16;
inline constexpr std::size_t g256_subs = g256_elements / g256_sub_elements;

/// value[i] = d*q[i] + m, and d*q[i] where the type has no minimum (m is +0 then and not to be added: -0 stays -0).
/// Ranges: Q4_0 -8..7, Q4_1 0..15, Q5_0 -16..15, Q8_0 -128..127.
struct g32_block {
  float d;
  float m;
  std::array<std::int8_t, g32_elements> q;
};

/// value[i] = (d*sc[i/16])*q[i] - dmin*mn[i/16], without the second term where the type has no minimum (dmin and mn are
/// 0 then). Ranges: Q4_K q 0..15, sc and mn 0..63; Q6_K q -32..31, sc -128..127.
struct g256_block {
  float d;
  float dmin;
  std::array<std::int8_t, g256_subs> sc;
  std::array<std::int8_t, g256_subs> mn;
  std::array<std::int8_t, g256_elements> q;
};

/// Whether weights of this type can be computed with.
constexpr bool supported(tensor_type type) noexcept {
  switch (type) {
    case tensor_type::f32:
    case tensor_type::f16:
    case tensor_type::bf16:
    case tensor_type::q4_0:
    case tensor_type::q4_1:
    case tensor_type::q5_0:
    case tensor_type::q8_0:
    case tensor_type::q4_k:
    case tensor_type::q6_k:
      return true;
    default:
      return false;
  }
}

/// The form of a supported type.
constexpr canonical_form form_of(tensor_type type) noexcept {
  switch (type) {
    case tensor_type::q4_0:
    case tensor_type::q4_1:
    case tensor_type::q5_0:
    case tensor_type::q8_0:
      return canonical_form::g32;
    case tensor_type::q4_k:
    case tensor_type::q6_k:
      return canonical_form::g256;
    default:
      return canonical_form::floating;
  }
}

/// Whether the values of a supported type have an additive term beside scale times code.
constexpr bool has_minimum(tensor_type type) noexcept {
  return type == tensor_type::q4_1 || type == tensor_type::q4_k;
}

}  // namespace infer::quant
