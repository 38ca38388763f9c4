// The 16-bit float conversions, against arithmetic in double.
#include "engine/core/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace infer {
namespace {

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

/// A code's value from the definition of the format: `mantissa_bits` 10 for binary16, 7 for bf16.
double value_by_definition(std::uint16_t code, int mantissa_bits) {
  const int exponent_bits = 15 - mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = code & ((1 << mantissa_bits) - 1);
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                         : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return code & 0x8000 ? -magnitude : magnitude;
}

/// The nearest of all finite codes of a format (ties to the even one) by search over its sorted values.
class nearest_code {
 public:
  nearest_code(int mantissa_bits, std::uint16_t infinity) : infinity_(infinity) {
    for (std::uint32_t code = 0; code < infinity; ++code) {
      values_.push_back(value_by_definition(static_cast<std::uint16_t>(code), mantissa_bits));
    }
    // What the next code would be worth without an end of the range: rounding to it is rounding to infinity.
    values_.push_back(values_.back() + (values_.back() - values_[values_.size() - 2]));
  }

  std::uint16_t operator()(float value) const {
    const double magnitude = std::fabs(static_cast<double>(value));
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (magnitude >= values_.back()) return sign | infinity_;
    const auto above = std::upper_bound(values_.begin(), values_.end(), magnitude);
    const auto low = static_cast<std::uint16_t>(above - values_.begin() - 1);
    const double down = magnitude - values_[low];
    const double up = *above - magnitude;
    const bool take_low = down < up || (down == up && low % 2 == 0);
    return sign | static_cast<std::uint16_t>(take_low ? low : low + 1);
  }

 private:
  std::uint16_t infinity_;
  std::vector<double> values_;
};

/// Values around every boundary between two codes, and random bit patterns.
template <class Check>
void for_interesting_values(int mantissa_bits, std::uint16_t infinity, Check check) {
  for (std::uint32_t code = 0; code < infinity; ++code) {
    const double low = value_by_definition(static_cast<std::uint16_t>(code), mantissa_bits);
    const double high = value_by_definition(static_cast<std::uint16_t>(code + 1), mantissa_bits);
    const auto middle = static_cast<float>((low + high) / 2);
    for (const float value : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, INFINITY)}) {
      check(value);
      check(-value);
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 2'000'000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(value)) check(value);
  }
  for (const float value : {0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    check(value);
  }
}

TEST(Half, EveryF16CodeHasTheValueOfItsDefinition) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto code = static_cast<std::uint16_t>(i);
    const float value = f16_to_f32(code);
    ASSERT_EQ(std::signbit(value), (code & 0x8000) != 0) << code;
    if ((code & 0x7fff) > 0x7c00) {
      ASSERT_TRUE(std::isnan(value)) << code;
      ASSERT_NE(bits_of(value) & 0x00400000u, 0u) << code;
    } else if ((code & 0x7fff) == 0x7c00) {
      ASSERT_TRUE(std::isinf(value)) << code;
    } else {
      ASSERT_EQ(static_cast<double>(value), value_by_definition(code, 10)) << code;
    }
  }
}

TEST(Half, EveryBf16CodeHasTheValueOfItsDefinition) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto code = static_cast<std::uint16_t>(i);
    const float value = bf16_to_f32(code);
    if ((code & 0x7fff) > 0x7f80) {
      ASSERT_TRUE(std::isnan(value)) << code;
    } else if ((code & 0x7fff) == 0x7f80) {
      ASSERT_TRUE(std::isinf(value)) << code;
    } else {
      ASSERT_EQ(static_cast<double>(value), value_by_definition(code, 7)) << code;
      ASSERT_EQ(std::signbit(value), (code & 0x8000) != 0) << code;
    }
  }
}

TEST(Half, EveryCodeSurvivesTheRoundTrip) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto code = static_cast<std::uint16_t>(i);
    const std::uint16_t f16_expected = (code & 0x7fff) > 0x7c00 ? code | 0x0200 : code;
    const std::uint16_t bf16_expected = (code & 0x7fff) > 0x7f80 ? code | 0x0040 : code;
    ASSERT_EQ(f32_to_f16(f16_to_f32(code)), f16_expected);
    ASSERT_EQ(f32_to_bf16(bf16_to_f32(code)), bf16_expected);
  }
}

TEST(Half, F16RoundsToNearestEven) {
  const nearest_code nearest(10, 0x7c00);
  for_interesting_values(10, 0x7c00, [&](float value) {
    ASSERT_EQ(f32_to_f16(value), nearest(value)) << value << " bits " << std::hex << bits_of(value);
  });
}

TEST(Half, Bf16RoundsToNearestEven) {
  const nearest_code nearest(7, 0x7f80);
  for_interesting_values(7, 0x7f80, [&](float value) {
    ASSERT_EQ(f32_to_bf16(value), nearest(value)) << value << " bits " << std::hex << bits_of(value);
  });
}

TEST(Half, SaturatedF16NeverReachesInfinity) {
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16_saturated(65520.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16_saturated(-1e30f), 0xfbff);
  EXPECT_EQ(f32_to_f16_saturated(std::numeric_limits<float>::infinity()), 0x7bff);
  EXPECT_EQ(f32_to_f16_saturated(-std::numeric_limits<float>::infinity()), 0xfbff);
  EXPECT_EQ(f32_to_f16_saturated(1.5f), f32_to_f16(1.5f));
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16_saturated(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Half, SignalingNansBecomeQuietOnes) {
  const float signaling = std::bit_cast<float>(0xff800001u);
  EXPECT_EQ(f32_to_f16(signaling), 0xfe00);
  EXPECT_EQ(f32_to_bf16(signaling), 0xffc0);
  EXPECT_EQ(bits_of(f16_to_f32(0x7c01)), 0x7fc02000u);
}

static_assert(f16_to_f32(0x3c00) == 1.0f && f16_to_f32(0x0001) == 0x1p-24f && f32_to_f16(0x1p-25f) == 0);
static_assert(bf16_to_f32(0x3f80) == 1.0f && f32_to_bf16(1.0f) == 0x3f80);

}  // namespace
}  // namespace infer
