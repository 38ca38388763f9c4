// The table of element types against the sizes of the format's own description.
#include "engine/core/tensor_type.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace infer {
namespace {

TEST(tensor_type, numbers_and_block_sizes_are_ggmls) {
  const std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> expected{
      {0, {1, 4}},      {1, {1, 2}},      {2, {32, 18}},   {3, {32, 20}},    {6, {32, 22}},    {7, {32, 24}},
      {8, {32, 34}},    {9, {32, 36}},    {10, {256, 84}}, {11, {256, 110}}, {12, {256, 144}}, {13, {256, 176}},
      {14, {256, 210}}, {15, {256, 292}}, {16, {256, 66}}, {17, {256, 74}},  {18, {256, 98}},  {19, {256, 50}},
      {20, {32, 18}},   {21, {256, 110}}, {22, {256, 82}}, {23, {256, 136}}, {24, {1, 1}},     {25, {1, 2}},
      {26, {1, 4}},     {27, {1, 8}},     {28, {1, 8}},    {29, {256, 56}},  {30, {1, 2}},     {34, {256, 54}},
      {35, {256, 66}},  {39, {32, 17}},   {40, {64, 36}},  {41, {128, 18}},  {42, {64, 18}}};
  for (std::uint32_t number = 0; number < 64; ++number) {
    const auto* info = find_tensor_type(number);
    const auto at = expected.find(number);
    ASSERT_EQ(info != nullptr, at != expected.end()) << number;
    if (info == nullptr) continue;
    EXPECT_EQ(info->block_elements, at->second.first) << number;
    EXPECT_EQ(info->block_bytes, at->second.second) << number;
    EXPECT_EQ(&info_of(static_cast<tensor_type>(number)), info);
  }
}

TEST(tensor_type, names_are_found_in_either_case) {
  EXPECT_EQ(tensor_type_named("Q4_K"), tensor_type::q4_k);
  EXPECT_EQ(tensor_type_named("q4_k"), tensor_type::q4_k);
  EXPECT_EQ(tensor_type_named("bf16"), tensor_type::bf16);
  EXPECT_FALSE(tensor_type_named("Q4"));
  EXPECT_FALSE(tensor_type_named(""));
}

}  // namespace
}  // namespace infer
