// Blocks to floats: against gguf-py's values, and the rejection of what cannot be trusted.
#include "engine/quant/dequantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "engine/core/half.h"
#include "engine/quant/blocks.h"
#include "tests/support/random_blocks.h"

namespace infer::quant {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

class Dequantize : public ::testing::TestWithParam<tensor_type> {};

TEST_P(Dequantize, GivesTheBitsOfTheOracle) {
  const std::string stem = "tests/golden/quant/" + std::string(info_of(GetParam()).name);
  const auto blocks = read_file(stem + ".blocks");
  const auto expected = read_file(stem + ".f32");
  ASSERT_EQ(blocks.size(), 64u * info_of(GetParam()).block_bytes);
  ASSERT_EQ(expected.size(), 64u * info_of(GetParam()).block_elements * sizeof(float));
  std::vector<float> values(expected.size() / sizeof(float));
  ASSERT_TRUE(dequantize(GetParam(), blocks, values));
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), load_le<std::uint32_t>(expected.data() + 4 * i)) << i;
  }
  EXPECT_TRUE(check_finite_scales(GetParam(), blocks));
}

TEST_P(Dequantize, RefusesOtherSizes) {
  const tensor_type_info& info = info_of(GetParam());
  std::vector<std::byte> blocks(2 * info.block_bytes);
  std::vector<float> values(2 * info.block_elements);
  EXPECT_TRUE(dequantize(GetParam(), blocks, values));
  values.push_back(0);
  EXPECT_EQ(dequantize(GetParam(), blocks, values).error().code, fault::size_mismatch);
  blocks.pop_back();
  EXPECT_EQ(dequantize(GetParam(), blocks, values).error().code, fault::size_mismatch);
  EXPECT_EQ(check_finite_scales(GetParam(), blocks).error().code, fault::size_mismatch);
  EXPECT_TRUE(dequantize(GetParam(), {}, {}));
}

TEST_P(Dequantize, FindsEveryScaleThatIsNotFinite) {
  const tensor_type type = GetParam();
  const tensor_type_info& info = info_of(type);
  std::vector<std::size_t> offsets{0};
  if (type == tensor_type::q2_k) offsets = {80};
  if (type == tensor_type::q3_k) offsets = {108};
  if (type == tensor_type::q6_k) offsets = {208};
  if (has_minimum(type)) offsets.push_back(offsets[0] + 2);
  for (const std::size_t offset : offsets) {
    for (const float bad : {INFINITY, -INFINITY, NAN}) {
      auto blocks = test_support::random_blocks(type, 5, 1);
      ASSERT_TRUE(check_finite_scales(type, blocks));
      std::byte* at = blocks.data() + 3 * info.block_bytes + offset;
      const std::uint16_t code = type == tensor_type::bf16 ? f32_to_bf16(bad) : f32_to_f16(bad);
      if (type == tensor_type::f32) {
        std::memcpy(at, &bad, sizeof bad);
      } else if (type == tensor_type::mxfp4) {
        *at = std::byte{255};
      } else {
        std::memcpy(at, &code, sizeof code);
      }
      const auto checked = check_finite_scales(type, blocks);
      ASSERT_FALSE(checked) << offset << " " << bad;
      EXPECT_EQ(checked.error().code, fault::not_finite);
      EXPECT_THAT(checked.error().message(), HasSubstr("element " + std::to_string(3 * info.block_elements)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, Dequantize, ::testing::ValuesIn(supported_types),
                         [](const auto& info) { return std::string(info_of(info.param).name); });

TEST(DequantizeTypes, TheFormOfATypeMatchesItsBlock) {
  for (const tensor_type type : supported_types) {
    const std::uint32_t elements = info_of(type).block_elements;
    const canonical_form form = form_of(type);
    EXPECT_EQ(elements, form == canonical_form::g256 ? 256u : form == canonical_form::g32 ? 32u : 1u);
  }
}

TEST(DequantizeTypes, AnUnsupportedTypeIsNamed) {
  std::vector<std::byte> block(info_of(tensor_type::iq2_xxs).block_bytes);
  std::vector<float> values(256);
  const auto refused = dequantize(tensor_type::iq2_xxs, block, values);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, fault::unsupported_type);
  EXPECT_THAT(refused.error().message(), HasSubstr("IQ2_XXS"));
  EXPECT_EQ(check_finite_scales(tensor_type::iq2_xxs, block).error().code, fault::unsupported_type);
}

TEST(DequantizeTypes, ANegativeScaleKeepsTheSignOfZero) {
  std::vector<std::byte> block(34);
  const std::uint16_t scale = f32_to_f16(-1.0f);
  std::memcpy(block.data(), &scale, sizeof scale);
  std::vector<float> values(32);
  ASSERT_TRUE(dequantize(tensor_type::q8_0, block, values));
  EXPECT_TRUE(std::signbit(values[0]));
}

TEST(DequantizeTypes, ABadFloatIsFoundAnywhereInALongTensor) {
  std::vector<float> values(10'000, 65504.0f);
  ASSERT_TRUE(check_finite_scales(tensor_type::f32, std::as_bytes(std::span(values))));
  for (const std::size_t at : {0u, 4095u, 4096u, 9'999u}) {
    values[at] = INFINITY;
    const auto checked = check_finite_scales(tensor_type::f32, std::as_bytes(std::span(values)));
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message(), HasSubstr("element " + std::to_string(at) + " "));
    values[at] = 0;
  }
}

TEST(DequantizeTypes, QuantizersOfTheTestsComeBackClose) {
  const auto values = test_support::random_floats(320, 5, 2.0f);
  const std::vector<std::pair<tensor_type, float>> steps{
      {tensor_type::f32, 0.0f},   {tensor_type::f16, 0.001f}, {tensor_type::bf16, 0.01f}, {tensor_type::q4_0, 0.26f},
      {tensor_type::q4_1, 0.15f}, {tensor_type::q5_0, 0.13f}, {tensor_type::q8_0, 0.01f}};
  for (const auto& [type, step] : steps) {
    std::vector<float> back(values.size());
    ASSERT_TRUE(dequantize(type, test_support::quantize(type, values), back));
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(back[i], values[i], step) << info_of(type).name << " " << i;
    }
  }
}

TEST(DequantizeTypes, EveryFaultHasItsSentence) {
  for (const fault each : {fault::unsupported_type, fault::size_mismatch, fault::not_finite}) {
    EXPECT_THAT(make_error_code(each).message(), HasSubstr("weights"));
  }
}

}  // namespace
}  // namespace infer::quant
