// The elementary functions of the numeric contract: the same operations in the same order in every body that
// instantiates them, so their results are equal to the bit. Each works on any |x| named, without tables or branches
// that a vector body could not follow.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace infer {

/// x rounded to the nearest integer, ties to even. |x| < 2²².
[[gnu::always_inline]] inline float round_even(float x) noexcept {
  constexpr float magic = 12582912.0f;  // 1.5·2²³
  return (x + magic) - magic;
}

/// 2ⁿ for an integral n in [−126, 127].
[[gnu::always_inline]] inline float power_of_two(float n) noexcept {
  return std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

/// eˣ. +0 below −87.3, infinity above 88.72; a NaN stays one.
/// Accuracy: ≤ 1.1 ulp on [−87.3, 88.7].
[[gnu::always_inline]] inline float exp_f32(float x) noexcept {
  // A number that is none takes no part until the end: it has no integer below.
  const float clamped = x < 88.73f ? (x > -87.4f ? x : -87.4f) : 88.73f;
  const float n = round_even(clamped * 1.44269504088896341f);
  float r = std::fma(n, -0.693145751953125f, clamped);
  r = std::fma(n, -1.428606765330187e-6f, r);
  float p = 1.9875691500e-4f;
  p = std::fma(p, r, 1.3981999507e-3f);
  p = std::fma(p, r, 8.3334519073e-3f);
  p = std::fma(p, r, 4.1665795894e-2f);
  p = std::fma(p, r, 1.6666665459e-1f);
  p = std::fma(p, r, 5.0000001201e-1f);
  p = std::fma(p * r, r, r);
  p = p + 1.0f;
  const float half = round_even(n * 0.5f);
  const float value = (p * power_of_two(half)) * power_of_two(n - half);
  return x < -87.3f ? 0.0f : (x == x ? value : x);
}

/// Natural logarithm of a positive normal x.
/// Accuracy: ≤ 1 ulp.
[[gnu::always_inline]] inline float log_f32(float x) noexcept {
  // x = 2ᵏ·m with m in [√½, √2)
  const std::int32_t bits = std::bit_cast<std::int32_t>(x);
  const std::int32_t shifted = bits - 0x3f3504f3;
  const float k = static_cast<float>(shifted >> 23);
  const float m = std::bit_cast<float>((shifted & 0x007fffff) + 0x3f3504f3);
  const float f = m - 1.0f;
  const float s = f / (2.0f + f);
  const float z = s * s;
  float r = 0.24279078841f;
  r = std::fma(r, z, 0.28498786688f);
  r = std::fma(r, z, 0.40000972152f);
  r = std::fma(r, z, 0.66666662693f);
  r = r * z;
  const float half_square = 0.5f * f * f;
  const float low = std::fma(s, half_square + r, k * 9.0580006145e-6f);
  return std::fma(k, 6.9313812256e-1f, f - (half_square - low));
}

/// Hyperbolic tangent.
/// Accuracy: ≤ 1.5 ulp.
[[gnu::always_inline]] inline float tanh_f32(float x) noexcept {
  const float a = std::fabs(x);
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = std::fma(p, z, 2.06390887954e-2f);
  p = std::fma(p, z, -5.37397155531e-2f);
  p = std::fma(p, z, 1.33314422036e-1f);
  p = std::fma(p, z, -3.33332819422e-1f);
  const float small = std::fma(p * z, x, x);
  const float e = exp_f32(2.0f * (a > 20.0f ? 20.0f : a));
  const float large = std::copysign(1.0f - 2.0f / (e + 1.0f), x);
  return a < 0.625f ? small : large;
}

/// sin x and cos x for |x| ≤ 2²⁰.
/// Accuracy: ≤ 1.5 ulp each.
[[gnu::always_inline]] inline void sincos_f32(float x, float& sine, float& cosine) noexcept {
  const float n = round_even(x * 0.636619772367581343f);
  // π/2 in three parts of 24 bits: with fma every step but the last is exact where the result is small.
  float r = std::fma(n, -1.57079637050628662109f, x);
  r = std::fma(n, 4.37113882867379e-8f, r);
  r = std::fma(n, 1.71512451e-15f, r);
  const float z = r * r;
  float s = -1.9515295891e-4f;
  s = std::fma(s, z, 8.3321608736e-3f);
  s = std::fma(s, z, -1.6666654611e-1f);
  s = std::fma(s * z, r, r);
  float c = 2.443315711809948e-5f;
  c = std::fma(c, z, -1.388731625493765e-3f);
  c = std::fma(c, z, 4.166664568298827e-2f);
  c = std::fma(c * z, z, std::fma(z, -0.5f, 1.0f));
  const std::int32_t quadrant = static_cast<std::int32_t>(n);
  const bool swap = (quadrant & 1) != 0;
  const float first = swap ? c : s;
  const float second = swap ? s : c;
  sine = (quadrant & 2) != 0 ? -first : first;
  cosine = ((quadrant + 1) & 2) != 0 ? -second : second;
}

/// 1/(1 + e⁻ˣ), one rounding per operator.
[[gnu::always_inline]] inline float sigmoid_f32(float x) noexcept {
  return 1.0f / (1.0f + exp_f32(-x));
}

/// x·sigmoid(x).
[[gnu::always_inline]] inline float silu_f32(float x) noexcept {
  return x * sigmoid_f32(x);
}

/// ½x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), one rounding per operator.
[[gnu::always_inline]] inline float gelu_tanh_f32(float x) noexcept {
  const float inner = 0.797884560802865356f * (x + 0.044715f * (x * x * x));
  return (0.5f * x) * (1.0f + tanh_f32(inner));
}

/// x·Φ(x), the form of gelu with the error function.
/// Accuracy: ≤ 1.2e-7·max(1, |x|), as close as one rounding per operator of ½x·(1 + erf(x/√2)) comes.
[[gnu::always_inline]] inline float gelu_erf_f32(float x) noexcept {
  // Φ(−a) = ½·exp(−a·p(a)) for 0 ≤ a < 6.2; beyond, what is left of x·Φ(x) is less than 2e-9. p is a fit of
  // −ln(2Φ(−a))/a that weighs an error as it shows in the result.
  const float a = std::fabs(x);
  float p = -1.5052605e-7f;
  p = std::fma(p, a, 3.4968231e-6f);
  p = std::fma(p, a, -3.2427447e-5f);
  p = std::fma(p, a, 1.3241043e-4f);
  p = std::fma(p, a, 1.1265942e-4f);
  p = std::fma(p, a, -4.9404178e-3f);
  p = std::fma(p, a, 3.6429205e-2f);
  p = std::fma(p, a, 3.1828201e-1f);
  p = std::fma(p, a, 7.9788766e-1f);
  const float tail = a < 6.2f ? 0.5f * exp_f32(-(a * p)) : 0.0f;
  return x * (x < 0.0f ? tail : 1.0f - tail);
}

}  // namespace infer
