// One block of a model file to its canonical form, inline so that kernels can unpack inside their loops.
#pragma once

#include <bit>
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

/// The levels of IQ4_NL and IQ4_XS.
inline constexpr std::array<std::int8_t, 16> iq4_levels{-127, -104, -83, -65, -49, -35, -22, -10,
                                                        1,    13,   25,  38,  53,  69,  89,  113};
/// Twice the values of E2M1 codes.
inline constexpr std::array<std::int8_t, 16> fp4_doubles{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// Byte j holds the index of element j in its low half and of element j + 16 in its high half.
inline void unpack_indices(const std::byte* from, const std::array<std::int8_t, 16>& levels, std::int8_t* q) noexcept {
  for (std::size_t j = 0; j < 16; ++j) {
    const auto both = std::to_integer<unsigned>(from[j]);
    q[j] = levels[both & 15u];
    q[j + 16] = levels[both >> 4];
  }
}

/// 12 bytes with eight 6-bit scales and minima, each of which counts for two neighbouring runs of 16.
inline void unpack_six_bit_scales(const std::byte* packed, g256_block& out) noexcept {
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
}

/// 128 bytes: four chunks of 64 elements, the first 32 of a chunk in the low halves of its 32 bytes, the others in the
/// high halves.
inline void unpack_chunks_of_halves(const std::byte* codes, g256_block& out) noexcept {
  for (std::size_t chunk = 0; chunk < 4; ++chunk) {
    std::int8_t* q = out.q.data() + 64 * chunk;
    for (std::size_t j = 0; j < 32; ++j) {
      const int both = std::to_integer<int>(codes[32 * chunk + j]);
      q[j] = static_cast<std::int8_t>(both & 15);
      q[j + 32] = static_cast<std::int8_t>(both >> 4);
    }
  }
}

/// 64 bytes of two bits each: two halves of 128 elements, in a half four runs of 32 by rising shift of its 32 bytes.
inline void unpack_pairs(const std::byte* codes, g256_block& out) noexcept {
  for (std::size_t run = 0; run < 8; ++run) {
    for (std::size_t j = 0; j < 32; ++j) {
      const auto four = std::to_integer<unsigned>(codes[32 * (run / 4) + j]);
      out.q[32 * run + j] = static_cast<std::int8_t>((four >> (2 * (run % 4))) & 3u);
    }
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

/// f16 d; f16 m; u32 of fifth bits, bit i for element i; 16 bytes of halves.
inline void unpack_q5_1(const std::byte* block, g32_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.m = detail::load_f16(block + 2);
  const auto fifth = load_le<std::uint32_t>(block + 4);
  detail::unpack_halves(block + 8, 0, out.q.data());
  for (std::size_t i = 0; i < g32_elements; ++i) {
    out.q[i] = static_cast<std::int8_t>(out.q[i] + static_cast<int>(((fifth >> i) & 1u) << 4));
  }
}

/// f16 d; 16 bytes of halves, each an index into the table of 16 levels.
inline void unpack_iq4_nl(const std::byte* block, g32_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.m = 0;
  detail::unpack_indices(block + 2, detail::iq4_levels, out.q.data());
}

/// Exponent byte e; 16 bytes of halves, each a float of 4 bits. d = 2^(e - 128), so that codes are twice those floats;
/// e = 255 is not a number.
inline void unpack_mxfp4(const std::byte* block, g32_block& out) noexcept {
  const auto e = std::to_integer<std::uint32_t>(block[0]);
  out.d = std::bit_cast<float>(e == 255 ? 0x7fc00000u : e >= 2 ? (e - 1) << 23 : 0x00200000u << e);
  out.m = 0;
  detail::unpack_indices(block + 1, detail::fp4_doubles, out.q.data());
}

/// f16 d; 32 signed bytes.
inline void unpack_q8_0(const std::byte* block, g32_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.m = 0;
  std::memcpy(out.q.data(), block + 2, g32_elements);
}

/// 16 bytes, each a scale in its low half and a minimum in its high half; 64 bytes of two bits; f16 d; f16 dmin.
inline void unpack_q2_k(const std::byte* block, g256_block& out) noexcept {
  out.d = detail::load_f16(block + 80);
  out.dmin = detail::load_f16(block + 82);
  for (std::size_t sub = 0; sub < g256_subs; ++sub) {
    const int both = std::to_integer<int>(block[sub]);
    out.sc[sub] = static_cast<std::int8_t>(both & 15);
    out.mn[sub] = static_cast<std::int8_t>(both >> 4);
  }
  detail::unpack_pairs(block + 16, out);
}

/// 32 bytes of third bits, bit g of byte j for element 32g + j, unset where 4 is to be taken off; 64 bytes of two bits;
/// 12 bytes with sixteen 6-bit scales, 32 too large: low halves, then high pairs; f16 d.
inline void unpack_q3_k(const std::byte* block, g256_block& out) noexcept {
  out.d = detail::load_f16(block + 108);
  out.dmin = 0;
  out.mn.fill(0);
  const auto at = [block](std::size_t i) { return std::to_integer<int>(block[96 + i]); };
  for (std::size_t sub = 0; sub < g256_subs; ++sub) {
    const int low = sub < 8 ? at(sub) & 15 : at(sub - 8) >> 4;
    const int high = (at(8 + sub % 4) >> (2 * (sub / 4))) & 3;
    out.sc[sub] = static_cast<std::int8_t>((low | high << 4) - 32);
  }
  detail::unpack_pairs(block + 32, out);
  for (std::size_t i = 0; i < g256_elements; ++i) {
    const auto bits = std::to_integer<unsigned>(block[i % 32]);
    if (((bits >> (i / 32)) & 1u) == 0) out.q[i] = static_cast<std::int8_t>(out.q[i] - 4);
  }
}

/// f16 d; f16 dmin; six-bit scales and minima; four chunks of halves.
inline void unpack_q4_k(const std::byte* block, g256_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.dmin = detail::load_f16(block + 2);
  detail::unpack_six_bit_scales(block + 4, out);
  detail::unpack_chunks_of_halves(block + 16, out);
}

/// As Q4_K, with 32 bytes of fifth bits before the chunks: bit g of byte j for element 32g + j.
inline void unpack_q5_k(const std::byte* block, g256_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.dmin = detail::load_f16(block + 2);
  detail::unpack_six_bit_scales(block + 4, out);
  detail::unpack_chunks_of_halves(block + 48, out);
  for (std::size_t i = 0; i < g256_elements; ++i) {
    const auto bits = std::to_integer<unsigned>(block[16 + i % 32]);
    out.q[i] = static_cast<std::int8_t>(out.q[i] + static_cast<int>(((bits >> (i / 32)) & 1u) << 4));
  }
}

/// f16 d; u16 of high pairs of eight 6-bit scales, 32 too large; 4 bytes of their low halves; for every run of 32, 16
/// bytes of halves, each an index into the table of 16 levels.
inline void unpack_iq4_xs(const std::byte* block, g256_block& out) noexcept {
  out.d = detail::load_f16(block);
  out.dmin = 0;
  out.mn.fill(0);
  const auto high = load_le<std::uint16_t>(block + 2);
  for (std::size_t run = 0; run < 8; ++run) {
    const int low = (std::to_integer<int>(block[4 + run / 2]) >> (4 * (run % 2))) & 15;
    const int scale = (low | ((high >> (2 * run)) & 3) << 4) - 32;
    out.sc[2 * run] = out.sc[2 * run + 1] = static_cast<std::int8_t>(scale);
    detail::unpack_indices(block + 8 + 16 * run, detail::iq4_levels, out.q.data() + 32 * run);
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
    case tensor_type::q5_1:
      return unpack_q5_1(block, out);
    case tensor_type::q8_0:
      return unpack_q8_0(block, out);
    case tensor_type::iq4_nl:
      return unpack_iq4_nl(block, out);
    case tensor_type::mxfp4:
      return unpack_mxfp4(block, out);
    default:
      assert(!"a type whose canonical form is g32");
  }
}

/// Unpacks one block of a type whose form is g256. Reads `info_of(type).block_bytes` bytes.
inline void unpack_g256(tensor_type type, const std::byte* block, g256_block& out) noexcept {
  switch (type) {
    case tensor_type::q2_k:
      return unpack_q2_k(block, out);
    case tensor_type::q3_k:
      return unpack_q3_k(block, out);
    case tensor_type::q4_k:
      return unpack_q4_k(block, out);
    case tensor_type::q5_k:
      return unpack_q5_k(block, out);
    case tensor_type::q6_k:
      return unpack_q6_k(block, out);
    case tensor_type::iq4_xs:
      return unpack_iq4_xs(block, out);
    default:
      assert(!"a type whose canonical form is g256");
  }
}

}  // namespace infer::quant
