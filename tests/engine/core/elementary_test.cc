// Accuracy of the elementary functions against f64 over the ranges their docstrings promise.
#include "engine/core/elementary.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

namespace infer {
namespace {

/// Distance of `got` from the real number `truth` in units of the last place of a float near it.
double ulps(float got, double truth) {
  const float nearest = static_cast<float>(truth);
  const float next = std::nextafter(std::fabs(nearest), std::numeric_limits<float>::infinity());
  const double unit = static_cast<double>(next) - std::fabs(static_cast<double>(nearest));
  return std::fabs(static_cast<double>(got) - truth) / unit;
}

template <class F, class T>
double worst_on(float from, float to, F function, T truth) {
  double worst = 0;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> draw(from, to);
  for (int sample = 0; sample < 2'000'000; ++sample) {
    const float x = draw(random);
    worst = std::max(worst, ulps(function(x), truth(static_cast<double>(x))));
  }
  return worst;
}

TEST(elementary, exp_is_within_two_ulp_of_f64) {
  EXPECT_LE(worst_on(-87.3f, 88.7f, exp_f32, [](double x) { return std::exp(x); }), 2.0);
  EXPECT_LE(worst_on(-1.0f, 1.0f, exp_f32, [](double x) { return std::exp(x); }), 2.0);
}

TEST(elementary, exp_at_its_ends) {
  EXPECT_EQ(exp_f32(0.0f), 1.0f);
  EXPECT_EQ(exp_f32(-87.31f), 0.0f);
  EXPECT_EQ(exp_f32(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_GT(exp_f32(-87.3f), 0.0f);
  EXPECT_LE(ulps(exp_f32(88.7f), std::exp(static_cast<double>(88.7f))), 2.0);
  EXPECT_TRUE(std::isinf(exp_f32(88.8f)));
  EXPECT_TRUE(std::isinf(exp_f32(1e30f)));
}

TEST(elementary, log_is_within_two_ulp_on_all_exponents) {
  double worst = 0;
  std::mt19937 random(11);
  for (int exponent = 1; exponent < 255; ++exponent) {
    for (int sample = 0; sample < 8000; ++sample) {
      const std::uint32_t bits = static_cast<std::uint32_t>(exponent) << 23 | (random() & 0x7fffff);
      const float x = std::bit_cast<float>(bits);
      worst = std::max(worst, ulps(log_f32(x), std::log(static_cast<double>(x))));
    }
  }
  EXPECT_LE(worst, 2.0);
  EXPECT_EQ(log_f32(1.0f), 0.0f);
}

TEST(elementary, log_near_one_is_within_two_ulp) {
  EXPECT_LE(worst_on(0.9f, 1.1f, log_f32, [](double x) { return std::log(x); }), 2.0);
}

TEST(elementary, tanh_is_within_two_ulp) {
  EXPECT_LE(worst_on(-1.0f, 1.0f, tanh_f32, [](double x) { return std::tanh(x); }), 2.0);
  EXPECT_LE(worst_on(-30.0f, 30.0f, tanh_f32, [](double x) { return std::tanh(x); }), 2.0);
  EXPECT_EQ(tanh_f32(1000.0f), 1.0f);
  EXPECT_EQ(tanh_f32(-1000.0f), -1.0f);
}

float sine(float x) {
  float s, c;
  sincos_f32(x, s, c);
  return s;
}

float cosine(float x) {
  float s, c;
  sincos_f32(x, s, c);
  return c;
}

TEST(elementary, sine_and_cosine_are_within_two_ulp_up_to_two_to_the_twenty) {
  for (const float range : {1.0f, 10.0f, 1000.0f, 131072.0f, 1048576.0f}) {
    EXPECT_LE(worst_on(-range, range, sine, [](double x) { return std::sin(x); }), 2.0) << range;
    EXPECT_LE(worst_on(-range, range, cosine, [](double x) { return std::cos(x); }), 2.0) << range;
  }
}

TEST(elementary, sine_and_cosine_hold_beside_multiples_of_a_quarter_turn) {
  double worst = 0;
  for (int quarter = 1; quarter < 667'000; quarter += 3) {
    float x = static_cast<float>(quarter * 1.5707963267948966);
    for (int step = 0; step < 3; ++step) {
      worst = std::max(worst, ulps(sine(x), std::sin(static_cast<double>(x))));
      worst = std::max(worst, ulps(cosine(x), std::cos(static_cast<double>(x))));
      x = std::nextafter(x, 2e6f);
    }
  }
  EXPECT_LE(worst, 2.0);
}

TEST(elementary, gelu_follows_its_definition_and_stays_finite) {
  for (const float x : {-9.0f, -1.5f, -0.1f, 0.0f, 0.25f, 3.0f, 9.0f}) {
    const double inner = 0.7978845608028654 * (x + 0.044715 * static_cast<double>(x) * x * x);
    EXPECT_NEAR(gelu_tanh_f32(x), 0.5 * x * (1 + std::tanh(inner)), 1e-6 * (1 + std::fabs(x)));
  }
  EXPECT_EQ(gelu_tanh_f32(1e12f), 1e12f);
  EXPECT_EQ(gelu_tanh_f32(-1e12f), -0.0f);
}

TEST(elementary, gelu_erf_follows_its_definition_everywhere) {
  double worst = 0;
  for (double at = -14; at <= 14; at += 1e-4) {
    const float x = static_cast<float>(at);
    const double right = 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    worst = std::max(worst, std::fabs(gelu_erf_f32(x) - right) / std::max(1.0, std::fabs(right)));
  }
  EXPECT_LE(worst, 1.2e-7);
  EXPECT_EQ(gelu_erf_f32(1e12f), 1e12f);
  EXPECT_EQ(gelu_erf_f32(-1e12f), -0.0f);
  EXPECT_TRUE(std::signbit(gelu_erf_f32(-0.0f)));
  EXPECT_TRUE(std::isnan(gelu_erf_f32(std::numeric_limits<float>::quiet_NaN())));
}

TEST(elementary, silu_follows_its_definition) {
  for (const float x : {-50.0f, -1.5f, 0.0f, 0.25f, 9.0f})
    EXPECT_NEAR(silu_f32(x), x / (1 + std::exp(-static_cast<double>(x))), 1e-6 * (1 + std::fabs(x)));
}

}  // namespace
}  // namespace infer
