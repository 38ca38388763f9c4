// One block of a model file to its canonical form, inline so that kernels can unpack inside their loops.
#pragma once

#include <cassert>
#include <cstring>

#include "engine/core/bytes.h"
#include "engine/core/half.h"
#include "engine/quant/blocks.h"

namespace infer::quant {

namespace detail {

inline float load_f16(const std::byte* from) noexcept {
  return f16_to_f32(load_le<std::uint16_t>(from));
}

/// Byte j holds element j in its low half and element j + 16 in its high half; `zero` is taken off each.
inline void unpack_halves(const std::byte* from, int zero, std::int8_t* q) noexcept {
  // Eight bytes at a time: x − zero in every byte without a borrow into the next, for 0 ≤ zero ≤ 128.
  constexpr std::uint64_t each = 0x0101010101010101u;
  const auto less_zero = [zero](std::uint64_t x) {
    return ((x | each * 0x80u) - each * static_cast<std::uint64_t>(zero)) ^ each * 0x80u;
  };
  for (std::size_t j = 0; j < 16; j += 8) {
    std::uint64_t both;
    std::memcpy(&both, from + j, 8);
    const std::uint64_t low = less_zero(both & each * 15u), high = less_zero((both >> 4) & each * 15u);
    std::memcpy(q + j, &low, 8);
    std::memcpy(q + j + 16, &high, 8);
  }
}

}  // namespace detail

/// f16 d; 16 bytes of halves.
inline void unpack_q4_0(const std::byte* block, g32_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.m = 0;
  detail::unpack_halves(block + 2, 8, out.q.data());
}

/// f16 d; f16 m; 16 bytes of halves.
inline void unpack_q4_1(const std::byte* block, g32_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.m = detail::load_f16(block + 2);
  detail::unpack_halves(block + 4, 0, out.q.data());
}

/// f16 d; u32 of fifth bits, bit i for element i; 16 bytes of halves.
inline void unpack_q5_0(const std::byte* block, g32_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.m = 0;
  const auto fifth = load_le<std::uint32_t>(block + 2);
  detail::unpack_halves(block + 6, 16, out.q.data());
  for (std::size_t i = 0; i < g32_elements; ++i) {
    out.q[i] = static_cast<std::int8_t>(out.q[i] + static_cast<int>(((fifth >> i) & 1u) << 4));
  }
}

/// f16 d; 32 signed bytes.
inline void unpack_q8_0(const std::byte* block, g32_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.m = 0;
  std::memcpy(out.q.data(), block + 2, g32_elements);
}

/// f16 d; f16 dmin; 12 bytes with eight 6-bit scales and minima; 128 bytes: four chunks of 64 elements, the first 32
/// of a chunk in the low halves of its 32 bytes, the others in the high halves.
inline void unpack_q4_k(const std::byte* block, g256_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.dmin = detail::load_f16(block + 2);
  const std::byte* packed = block + 4;
  const auto at = [packed](std::size_t i) { return std::to_integer<int>(packed[i]); };
  for (std::size_t j = 0; j < 4; ++j) {
    const auto low_scale = static_cast<std::int8_t>(at(j) & 63);
    const auto low_min = static_cast<std::int8_t>(at(j + 4) & 63);
    const auto high_scale = static_cast<std::int8_t>((at(j + 8) & 15) | ((at(j) >> 6) << 4));
    const auto high_min = static_cast<std::int8_t>((at(j + 8) >> 4) | ((at(j + 4) >> 6) << 4));
    out.sc[2 * j] = out.sc[2 * j + 1] = low_scale;
    out.mn[2 * j] = out.mn[2 * j + 1] = low_min;
    out.sc[2 * j + 8] = out.sc[2 * j + 9] = high_scale;
    out.mn[2 * j + 8] = out.mn[2 * j + 9] = high_min;
  }
  const std::byte* codes = block + 16;
  for (std::size_t chunk = 0; chunk < 4; ++chunk) {
    std::int8_t* q = out.q.data() + 64 * chunk;
    for (std::size_t j = 0; j < 32; ++j) {
      const int both = std::to_integer<int>(codes[32 * chunk + j]);
      q[j] = static_cast<std::int8_t>(both & 15);
      q[j + 32] = static_cast<std::int8_t>(both >> 4);
    }
  }
}

/// 128 bytes of low halves; 64 bytes of two high bits; 16 signed scales; f16 d. Two halves of 128 elements each.
inline void unpack_q6_k(const std::byte* block, g256_block& out) noexcept {
  out.d = detail::load_f16(block + 208);
  out.dmin = 0;
  std::memcpy(out.sc.data(), block + 192, g256_subs);
  out.mn.fill(0);
  for (std::size_t half = 0; half < 2; ++half) {
    const std::byte* low = block + 64 * half;
    const std::byte* high = block + 128 + 32 * half;
    std::int8_t* q = out.q.data() + 128 * half;
    for (std::size_t l = 0; l < 32; ++l) {
      const int low0 = std::to_integer<int>(low[l]);
      const int low1 = std::to_integer<int>(low[l + 32]);
      const int bits = std::to_integer<int>(high[l]);
      q[l] = static_cast<std::int8_t>(((low0 & 15) | ((bits & 3) << 4)) - 32);
      q[l + 32] = static_cast<std::int8_t>(((low1 & 15) | (((bits >> 2) & 3) << 4)) - 32);
      q[l + 64] = static_cast<std::int8_t>(((low0 >> 4) | (((bits >> 4) & 3) << 4)) - 32);
      q[l + 96] = static_cast<std::int8_t>(((low1 >> 4) | ((bits >> 6) << 4)) - 32);
    }
  }
}

/// Unpacks one block of a type whose form is g32. Reads `info_of(type).block_bytes` bytes.
inline void unpack_g32(tensor_type type, const std::byte* block, g32_block& out) noexcept {
  switch (type) {
    case tensor_type::q4_0:
      return unpack_q4_0(block, out);
    case tensor_type::q4_1:
      return unpack_q4_1(block, out);
    case tensor_type::q5_0:
      return unpack_q5_0(block, out);
    case tensor_type::q8_0:
      return unpack_q8_0(block, out);
    default:
      assert(!"a type whose canonical form is g32");
  }
}

/// Unpacks one block of a type whose form is g256. Reads `info_of(type).block_bytes` bytes.
inline void unpack_g256(tensor_type type, const std::byte* block, g256_block& out) noexcept {
  switch (type) {
    case tensor_type::q4_k:
      return unpack_q4_k(block, out);
    case tensor_type::q6_k:
      return unpack_q6_k(block, out);
    default:
      assert(!"a type whose canonical form is g256");
  }
}

}  // namespace infer::quant
