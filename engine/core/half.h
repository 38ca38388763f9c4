// The two 16-bit float formats to and from f32, in bit arithmetic that gives the same bits on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace infer {

/// The f32 with the value of an IEEE binary16 code. Exact; a NaN keeps its sign and payload and becomes quiet.
[[gnu::always_inline]] constexpr float f16_to_f32(std::uint16_t code) noexcept {
  // Selects instead of branches, so that loops over it become vector code. The shifted code as an f32 is 2^-112 of its
  // value, subnormals included; the product is exact.
  const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x8000u) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(code & 0x7fffu) << 13;
  const std::uint32_t finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const std::uint32_t quiet = (code & 0x3ffu) != 0 ? 0x7fc00000u : 0x7f800000u;
  return std::bit_cast<float>(sign | ((code & 0x7c00u) == 0x7c00u ? (magnitude | quiet) : finite));
}

/// The binary16 code nearest to `value`, ties to even. From 65520 on it is infinity; a NaN stays one, quiet.
constexpr std::uint16_t f32_to_f16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t code = 0;
  if (magnitude > 0x7f800000u) {
    code = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {
    code = 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: one step of the sum at 0.5 is one step of the subnormals
    code = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    code = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  }
  return static_cast<std::uint16_t>(sign | code);
}

/// As `f32_to_f16`, but what would be infinity is ±65504. A NaN stays one.
constexpr std::uint16_t f32_to_f16_saturated(float value) noexcept {
  const std::uint16_t code = f32_to_f16(value);
  return (code & 0x7fffu) == 0x7c00u ? static_cast<std::uint16_t>((code & 0x8000u) | 0x7bffu) : code;
}

/// The f32 whose upper half is `code`. Exact.
constexpr float bf16_to_f32(std::uint16_t code) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

/// The bf16 code nearest to `value`, ties to even; a NaN stays one, quiet.
constexpr std::uint16_t f32_to_bf16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace infer
