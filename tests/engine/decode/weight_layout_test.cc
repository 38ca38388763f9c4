// How weights would be kept, type by type.
#include "engine/decode/weight_layout.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/decode/cpu_executor.h"
#include "engine/quant/blocks.h"

namespace infer::decode {
namespace {

plan::weight_source matrix(tensor_type type, std::uint32_t rows = 64, std::uint32_t columns = 512) {
  plan::weight_source out;
  out.type = type;
  out.rows = rows;
  out.columns = columns;
  return out;
}

TEST(WeightLayout, EverySupportedTypeHasOne) {
  const std::map<tensor_type, weight_layout> in_panels{
      {tensor_type::f32, weight_layout::floats},        {tensor_type::f16, weight_layout::floats},
      {tensor_type::bf16, weight_layout::floats},       {tensor_type::q4_0, weight_layout::nibbles},
      {tensor_type::q4_1, weight_layout::nibbles},      {tensor_type::q4_k, weight_layout::nibbles},
      {tensor_type::q5_0, weight_layout::nibbles_bits}, {tensor_type::q6_k, weight_layout::nibbles_bits},
      {tensor_type::q8_0, weight_layout::bytes},        {tensor_type::q5_1, weight_layout::bytes},
      {tensor_type::iq4_nl, weight_layout::bytes},      {tensor_type::mxfp4, weight_layout::bytes},
      {tensor_type::q2_k, weight_layout::bytes},        {tensor_type::q3_k, weight_layout::bytes},
      {tensor_type::q5_k, weight_layout::bytes},        {tensor_type::iq4_xs, weight_layout::bytes}};
  EXPECT_EQ(in_panels.size(), quant::supported_types.size());
  for (const kernels::op_table* ops : kernels::all_ops()) {
    for (const tensor_type type : quant::supported_types) {
      const bool panels = ops->pack == quant::pack_kind::r16k4;
      EXPECT_EQ(layout_of(matrix(type), *ops), panels ? in_panels.at(type) : weight_layout::rows) << info_of(type).name;
      EXPECT_EQ(layout_of(matrix(type, 1), *ops), weight_layout::dequantized);
    }
  }
}

TEST(WeightLayout, TheSumsAreThoseOfWhatAProgramKeeps) {
  plan::weight_table weights;
  for (const tensor_type type : quant::supported_types) {
    weights.weights.push_back(matrix(type));
    weights.weights.push_back(matrix(type, 50, 256));
  }
  weights.weights.push_back(matrix(tensor_type::f32, 1));
  for (const kernels::op_table* ops : kernels::all_ops()) {
    std::uint64_t bytes = 0, count = 0, elements = 0;
    for (const layout_sum& sum : layouts_of(weights, *ops)) {
      bytes += sum.bytes;
      count += sum.weights;
      elements += sum.elements;
      EXPECT_FALSE(name_of(sum.layout).empty());
    }
    EXPECT_EQ(bytes, weight_bytes(weights, *ops)) << ops->name;
    EXPECT_EQ(count, weights.weights.size());
    EXPECT_EQ(elements, quant::supported_types.size() * (64 * 512 + 50 * 256) + 512);
  }
}

TEST(WeightLayout, TheTableOfThisCpuHasAName) {
  EXPECT_EQ(kernels_name(), kernels::best_ops().name);
}

}  // namespace
}  // namespace infer::decode
