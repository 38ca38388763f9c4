// The normative kernels against definitions written out in f64, and every table against the normative one to the bit.
// Mirrors: reference_fma.cc, simd.cc
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "engine/core/elementary.h"
#include "engine/core/half.h"
#include "engine/kernels/ops.h"
#include "engine/kernels/tuning.h"
#include "engine/quant/blocks.h"
#include "engine/quant/dequantize.h"
#include "engine/quant/packed.h"
#include "tests/support/random_blocks.h"

namespace infer::kernels {
namespace {

using test_support::random_blocks;
using test_support::random_floats;

constexpr float poison = std::numeric_limits<float>::quiet_NaN();
constexpr auto all_types = quant::supported_types;

bool equal_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// A random matrix and its exact values.
struct matrix {
  matrix(tensor_type type, std::uint32_t rows, std::uint32_t columns, std::uint32_t seed) {
    const auto& info = info_of(type);
    bytes = quant::form_of(type) == quant::canonical_form::floating
                ? test_support::quantize(type, random_floats(std::size_t{rows} * columns, seed))
                : random_blocks(type, std::size_t{rows} * columns / info.block_elements, seed);
    values.resize(std::size_t{rows} * columns);
    EXPECT_TRUE(quant::dequantize(type, bytes, values));
    const std::size_t row_bytes = std::size_t{columns} / info.block_elements * info.block_bytes;
    view = {type, rows, columns, bytes.data(), row_bytes};
    packed = quant::pack_matrix(type, bytes, rows, columns);
    panels = {type, rows, columns, packed.data(), quant::panel_bytes(type, columns)};
  }
  /// As the table reads it.
  const matrix_view& as(const op_table& ops) const { return ops.pack == quant::pack_kind::r16k4 ? panels : view; }

  std::vector<std::byte> bytes, packed;
  std::vector<float> values;
  matrix_view view, panels;
};

/// Quantized activations with their storage; what lies behind the used part is poisoned.
struct activations {
  activations(const op_table& ops, quant::canonical_form form, const std::vector<float>& x, std::uint32_t tokens,
              std::uint32_t width) {
    const bool g32 = form == quant::canonical_form::g32;
    rows.groups = width / static_cast<std::uint32_t>(g32 ? quant::g32_elements : quant::g256_elements);
    codes.resize(std::size_t{tokens} * width);
    scales.assign(std::size_t{tokens} * rows.groups + 1, poison);
    sums_scaled.assign(std::size_t{tokens} * rows.groups + 1, poison);
    negative_sums.resize(std::size_t{tokens} * rows.groups + 1);
    sums.resize(std::size_t{tokens} * width / quant::g256_sub_elements + 1);
    sums32.resize(std::size_t{tokens} * width / quant::g32_elements + 1);
    rows.codes = codes.data();
    rows.scales = scales.data();
    rows.sums_scaled = sums_scaled.data();
    rows.negative_sums = negative_sums.data();
    rows.sums = sums.data();
    rows.sums32 = sums32.data();
    (g32 ? ops.quantize_g32 : ops.quantize_g256)(x.data(), tokens, width, rows);
  }
  std::vector<std::int8_t> codes;
  std::vector<float> scales, sums_scaled;
  std::vector<std::int32_t> negative_sums;
  std::vector<std::int16_t> sums, sums32;
  quantized_rows rows;
};

std::vector<float> run_linear(const op_table& ops, const matrix& w, const std::vector<float>& x, std::uint32_t tokens,
                              bool quantized, const float* bias = nullptr, const float* residual = nullptr,
                              float scale = 1) {
  std::vector<float> y(std::size_t{tokens} * w.view.rows, poison);
  linear_args a;
  a.w = w.as(ops);
  a.tokens = tokens;
  a.bias = bias;
  a.residual = residual;
  a.scale = scale;
  a.y = y.data();
  const auto form = quant::form_of(w.view.type);
  std::optional<activations> q;
  if (quantized && form != quant::canonical_form::floating) {
    q.emplace(ops, form, x, tokens, w.view.columns);
    a.q = &q->rows;
  } else {
    a.x = x.data();
  }
  // In two parts, as threads share the rows.
  const std::uint32_t cut = std::min(a.w.rows, (a.w.rows / 2 + row_block - 1) / row_block * row_block);
  ops.linear(a, {0, cut});
  ops.linear(a, {cut, a.w.rows});
  return y;
}

TEST(quantizer, rounds_to_the_nearest_code_and_reports_sums) {
  for (const op_table* ops : all_ops()) {
    std::vector<float> x(512);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * static_cast<float>(i % 7);
    const activations q(*ops, quant::canonical_form::g32, x, 1, 512);
    for (std::uint32_t g = 0; g < 16; ++g) {
      float amax = 0;
      for (int i = 0; i < 32; ++i) amax = std::max(amax, std::fabs(x[g * 32 + i]));
      EXPECT_EQ(q.scales[g], amax / 127.0f);
      int sum = 0;
      for (int i = 0; i < 32; ++i) {
        EXPECT_EQ(q.codes[g * 32 + i], static_cast<int>(std::nearbyint(x[g * 32 + i] * (127.0f / amax))));
        sum += q.codes[g * 32 + i];
      }
      EXPECT_EQ(q.sums_scaled[g], q.scales[g] * static_cast<float>(sum));
    }
  }
}

TEST(quantizer, groups_that_are_nearly_zero_are_zero) {
  for (const op_table* ops : all_ops()) {
    const std::vector<float> x(256, 1e-38f);
    for (const auto form : {quant::canonical_form::g32, quant::canonical_form::g256}) {
      const activations q(*ops, form, x, 1, 256);
      EXPECT_EQ(q.scales[0], 0.0f);
      for (const auto code : q.codes) EXPECT_EQ(code, 0);
    }
  }
}

TEST(quantizer, what_is_not_finite_makes_a_scale_that_is_no_number) {
  for (const op_table* ops : all_ops()) {
    for (const auto form : {quant::canonical_form::g32, quant::canonical_form::g256}) {
      for (const float bad :
           {poison, -poison, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
        for (const std::size_t at : {0u, 7u, 15u, 31u}) {
          std::vector<float> x(256, 0.5f);
          x[at] = bad;
          const activations q(*ops, form, x, 1, 256);
          EXPECT_TRUE(std::isnan(q.scales[0])) << ops->name << " at " << at;
          for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(q.codes[i], 0);
        }
      }
    }
  }
}

class linear : public testing::TestWithParam<tensor_type> {
 protected:
  std::uint32_t columns_of(std::uint32_t wish) const {
    const std::uint32_t block = info_of(GetParam()).block_elements;
    return (wish + block - 1) / block * block;
  }
};

TEST_P(linear, on_f32_activations_is_near_the_f64_truth) {
  for (const std::uint32_t wish : {32u, 576u, 1536u}) {
    const std::uint32_t columns = columns_of(wish);
    const matrix w(GetParam(), 24, columns, 3);
    const auto x = random_floats(std::size_t{3} * columns, 4);
    const auto y = run_linear(reference_ops(), w, x, 3, false);
    for (std::uint32_t t = 0; t < 3; ++t) {
      for (std::uint32_t row = 0; row < 24; ++row) {
        double truth = 0, magnitude = 0;
        for (std::uint32_t i = 0; i < columns; ++i) {
          const double term =
              static_cast<double>(w.values[row * columns + i]) * static_cast<double>(x[t * columns + i]);
          truth += term;
          magnitude += std::fabs(term);
        }
        ASSERT_NEAR(y[t * 24 + row], truth, 1e-6 * magnitude + 1e-12) << columns << " row " << row;
      }
    }
  }
}

TEST_P(linear, on_quantized_activations_equals_its_dequantized_product) {
  if (quant::form_of(GetParam()) == quant::canonical_form::floating) return;
  const std::uint32_t columns = columns_of(1280);
  const matrix w(GetParam(), 16, columns, 5);
  const auto x = random_floats(columns, 6);
  const auto y = run_linear(reference_ops(), w, x, 1, true);
  const auto form = quant::form_of(GetParam());
  const activations q(reference_ops(), form, x, 1, columns);
  const std::uint32_t group = form == quant::canonical_form::g32 ? 32 : 256;
  for (std::uint32_t row = 0; row < 16; ++row) {
    double truth = 0, magnitude = 0;
    for (std::uint32_t i = 0; i < columns; ++i) {
      const double a = static_cast<double>(q.scales[i / group]) * q.codes[i];
      truth += a * static_cast<double>(w.values[row * columns + i]);
      magnitude += std::fabs(a * static_cast<double>(w.values[row * columns + i]));
    }
    ASSERT_NEAR(y[row], truth, 2e-6 * magnitude + 1e-12) << row;
  }
}

TEST_P(linear, every_table_equals_the_normative_one_to_the_bit) {
  const op_table& normative = reference_ops();
  for (const op_table* ops : all_ops()) {
    for (const std::uint32_t wish : {32u, 256u, 576u, 640u, 768u, 896u, 1280u, 1536u}) {
      const std::uint32_t columns = columns_of(wish);
      const matrix w(GetParam(), 50, columns, 7);  // three whole panels and a piece of a fourth
      for (const std::uint32_t tokens : {1u, 2u, 3u, 8u, 40u, 53u, 200u}) {
        if (tokens == 200 && wish != 576) continue;  // past what one unpacked chunk serves
        const auto x = random_floats(std::size_t{tokens} * columns, 8);
        for (const bool quantized : {false, true})
          ASSERT_TRUE(
              equal_bits(run_linear(*ops, w, x, tokens, quantized), run_linear(normative, w, x, tokens, quantized)))
              << ops->name << " " << columns << " x " << tokens << (quantized ? " quantized" : " f32");
      }
    }
  }
}

TEST_P(linear, every_choice_of_tuning_gives_the_same_bits) {
  const tuning before = current_tuning;
  const std::uint32_t columns = columns_of(1280);
  const matrix w(GetParam(), 50, columns, 17);
  const auto x = random_floats(columns, 18);
  for (const op_table* ops : all_ops()) {
    for (const std::uint32_t panels : {1u, 2u}) {
      for (const std::uint32_t ahead : {0u, 4608u}) {
        current_tuning = {ahead, panels};
        EXPECT_TRUE(equal_bits(run_linear(*ops, w, x, 1, true), run_linear(reference_ops(), w, x, 1, true)))
            << ops->name << ", " << panels << " panels";
      }
    }
  }
  current_tuning = before;
}

TEST_P(linear, a_token_does_not_depend_on_its_neighbours) {
  const std::uint32_t columns = columns_of(576);
  const matrix w(GetParam(), 9, columns, 9);
  const auto x = random_floats(std::size_t{40} * columns, 10);
  for (const op_table* ops : all_ops()) {
    for (const bool quantized : {false, true}) {
      const auto together = run_linear(*ops, w, x, 40, quantized);
      for (std::uint32_t t = 0; t < 40; ++t) {
        const std::vector<float> one(x.begin() + t * columns, x.begin() + (t + 1) * columns);
        const auto alone = run_linear(*ops, w, one, 1, quantized);
        ASSERT_EQ(std::memcmp(alone.data(), together.data() + t * 9, 9 * sizeof(float)), 0)
            << ops->name << " token " << t;
      }
    }
  }
}

TEST_P(linear, bias_scale_and_residual_follow_in_order_one_rounding_each) {
  const std::uint32_t columns = columns_of(64);
  const matrix w(GetParam(), 8, columns, 11);
  const auto x = random_floats(columns, 12), bias = random_floats(8, 13), residual = random_floats(8, 14);
  for (const op_table* ops : all_ops()) {
    const auto plain = run_linear(*ops, w, x, 1, true);
    const auto full = run_linear(*ops, w, x, 1, true, bias.data(), residual.data(), 0.3f);
    for (int row = 0; row < 8; ++row) {
      const float biased = plain[row] + bias[row];
      const float scaled = biased * 0.3f;
      EXPECT_EQ(full[row], residual[row] + scaled);
    }
  }
}

TEST_P(linear, an_embedding_row_has_the_exact_values) {
  const std::uint32_t columns = columns_of(576);
  const matrix w(GetParam(), 5, columns, 15);
  for (const op_table* ops : all_ops()) {
    for (std::uint32_t row = 0; row < 5; ++row) {
      std::vector<float> out(columns, poison);
      ops->embed_row(w.as(*ops), row, out.data());
      EXPECT_EQ(std::memcmp(out.data(), w.values.data() + std::size_t{row} * columns, columns * sizeof(float)), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(types, linear, testing::ValuesIn(all_types),
                         [](const auto& info) { return std::string(info_of(info.param).name); });

TEST(rms_norm, follows_its_formula_for_every_length) {
  for (std::uint32_t width = 1; width <= 70; ++width) {
    const auto x = random_floats(std::size_t{2} * width, width), w = random_floats(width, width + 1);
    std::vector<float> normative(2 * width, poison);
    reference_ops().rms_norm(x.data(), w.data(), 1e-5f, 2, width, normative.data());
    for (std::uint32_t t = 0; t < 2; ++t) {
      double squares = 0;
      for (std::uint32_t i = 0; i < width; ++i) squares += std::pow(static_cast<double>(x[t * width + i]), 2);
      const double r = 1 / std::sqrt(squares / width + 1e-5);
      for (std::uint32_t i = 0; i < width; ++i)
        ASSERT_NEAR(normative[t * width + i], x[t * width + i] * r * w[i], 2e-6);
    }
    for (const op_table* ops : all_ops()) {
      std::vector<float> y(2 * width, poison);
      ops->rms_norm(x.data(), w.data(), 1e-5f, 2, width, y.data());
      ASSERT_TRUE(equal_bits(y, normative)) << ops->name << " " << width;
    }
  }
}

TEST(rms_norm, sums_in_blocks_of_512_with_sixteen_lanes) {
  // Values that round differently in any other order.
  std::vector<float> x(1100);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(1.0f + static_cast<float>(i) * 1e-3f, static_cast<int>(i * 7 % 13));
  float total = 0;
  for (std::size_t from = 0; from < x.size(); from += 512) {
    float lanes[16] = {};
    for (std::size_t i = from; i < std::min<std::size_t>(from + 512, x.size()); ++i)
      lanes[i % 16] = std::fma(x[i], x[i], lanes[i % 16]);
    for (int step = 8; step > 0; step /= 2) {
      for (int lane = 0; lane < step; ++lane) lanes[lane] += lanes[lane + step];
    }
    total += lanes[0];
  }
  const float r = 1.0f / std::sqrt(total / 1100.0f + 0.5f);
  const std::vector<float> w(x.size(), 1.0f);
  for (const op_table* ops : all_ops()) {
    std::vector<float> y(x.size());
    ops->rms_norm(x.data(), w.data(), 0.5f, 1, 1100, y.data());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], x[i] * r);
  }
}

TEST(rope, turns_pairs_of_halves_by_the_position) {
  const std::vector<float> inverse{1.0f, 0.1f, 0.01f, 0.001f};
  const std::vector<std::int32_t> positions{0, 1, 5000};
  const auto start = random_floats(3 * 2 * 10, 21);
  auto normative = start;
  const auto turn = [&](const op_table& ops, std::vector<float>& x) {
    std::vector<float> sine(12, poison), cosine(12, poison);
    ops.angles({positions.data(), 3, inverse, 1.0f, sine.data(), cosine.data()});
    ops.rope({x.data(), 3, 2, 10, 4, sine.data(), cosine.data()});
  };
  turn(reference_ops(), normative);
  for (int t = 0; t < 3; ++t) {
    for (int head = 0; head < 2; ++head) {
      const float* before = start.data() + (t * 2 + head) * 10;
      const float* after = normative.data() + (t * 2 + head) * 10;
      for (int i = 0; i < 4; ++i) {
        const double angle = static_cast<double>(static_cast<float>(positions[t]) * inverse[i]);
        EXPECT_NEAR(after[i], before[i] * std::cos(angle) - before[i + 4] * std::sin(angle), 1e-6);
        EXPECT_NEAR(after[i + 4], before[i + 4] * std::cos(angle) + before[i] * std::sin(angle), 1e-6);
      }
      EXPECT_EQ(after[8], before[8]) << "behind the rotated part";
      EXPECT_EQ(after[9], before[9]);
    }
  }
  for (const op_table* ops : all_ops()) {
    auto x = start;
    turn(*ops, x);
    EXPECT_TRUE(equal_bits(x, normative));
  }
}

TEST(gate, is_silu_times_up) {
  const auto gate = random_floats(1000, 31, 8.0f), up = random_floats(1000, 32);
  for (const op_table* ops : all_ops()) {
    std::vector<float> out(1000, poison);
    ops->silu_gate(gate.data(), up.data(), 1000, out.data());
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(out[i], silu_f32(gate[i]) * up[i]);
      EXPECT_NEAR(out[i], gate[i] / (1 + std::exp(-static_cast<double>(gate[i]))) * up[i], 2e-6);
    }
  }
}

TEST(gate, far_and_special_values_are_the_normative_ones_too) {
  std::vector<float> gate{0.0f,   -0.0f,  6.2f,    -6.2f, 6.1999998f, -6.1999998f, 1e-45f, -1e-45f, 1e-30f,
                          0.624f, 0.626f, -0.625f, 20.0f, -20.5f,     87.3f,       -87.3f, -87.31f, 88.8f,
                          -88.8f, 100.0f, -100.0f, 1e10f, -1e10f,     3e38f,       -3e38f};
  const auto wide = random_floats(40, 35, 200.0f);
  gate.insert(gate.end(), wide.begin(), wide.end());
  const std::vector<float> up(gate.size(), 1.0f);
  for (const op_table* ops : all_ops()) {
    for (auto op : {&op_table::silu_gate, &op_table::gelu_gate, &op_table::gelu_erf_gate}) {
      std::vector<float> out(gate.size(), poison), normative(gate.size(), poison);
      (ops->*op)(gate.data(), up.data(), gate.size(), out.data());
      (reference_ops().*op)(gate.data(), up.data(), gate.size(), normative.data());
      EXPECT_TRUE(equal_bits(out, normative)) << ops->name;
    }
  }
}

TEST(layer_norm, takes_off_the_mean_and_is_the_same_in_every_table) {
  for (const std::uint32_t width : {1u, 7u, 64u, 1537u}) {
    std::vector<float> x = random_floats(3 * width, width);
    for (float& value : x) value += 4;
    const std::vector<float> w = random_floats(width, width + 1), b = random_floats(width, width + 2);
    std::vector<float> normative(x.size());
    reference_ops().layer_norm(x.data(), w.data(), b.data(), 1e-5f, 3, width, normative.data());
    for (std::size_t row = 0; row < 3; ++row) {
      const std::span<const float> from(x.data() + row * width, width);
      const double mean = std::accumulate(from.begin(), from.end(), 0.0) / width;
      double squares = 0;
      for (const float value : from) squares += (value - mean) * (value - mean);
      const double r = 1 / std::sqrt(squares / width + 1e-5);
      for (std::size_t i = 0; i < width; ++i)
        EXPECT_NEAR(normative[row * width + i], (from[i] - mean) * r * w[i] + b[i], 2e-5 * (1 + std::fabs(w[i])))
            << width;
    }
    for (const op_table* ops : all_ops()) {
      std::vector<float> got = x;
      ops->layer_norm(got.data(), w.data(), b.data(), 1e-5f, 3, width, got.data());  // in place
      EXPECT_TRUE(equal_bits(got, normative)) << ops->name << " " << width;
    }
  }
}

TEST(activation, is_the_gate_of_ones) {
  const std::vector<float> x = random_floats(1003, 82, 8.0f), ones(1003, 1.0f);
  constexpr std::pair<op_table::activation_body op_table::*, op_table::gate_body op_table::*> both[]{
      {&op_table::silu, &op_table::silu_gate},
      {&op_table::gelu, &op_table::gelu_gate},
      {&op_table::gelu_erf, &op_table::gelu_erf_gate}};
  for (const auto& [alone, gate] : both) {
    std::vector<float> expected(1003);
    (reference_ops().*gate)(x.data(), ones.data(), 1003, expected.data());
    for (const op_table* ops : all_ops()) {
      std::vector<float> got = x;
      (ops->*alone)(got.data(), got.size(), got.data());
      EXPECT_TRUE(equal_bits(got, expected)) << ops->name;
    }
  }
}

TEST(softcap, is_the_cap_times_a_tanh_and_the_same_in_every_table) {
  const std::vector<float> x = random_floats(1003, 81);
  for (const float cap : {0.5f, 30.0f}) {
    std::vector<float> normative = x;
    reference_ops().softcap(normative.data(), normative.size(), cap);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(normative[i], cap * std::tanh(static_cast<double>(x[i]) / cap), 3e-7 * cap) << x[i];
    for (const op_table* ops : all_ops()) {
      for (const std::size_t count : {1003, 7, 1, 0}) {
        std::vector<float> got = x;
        ops->softcap(got.data(), count, cap);
        std::vector<float> expected = x;
        std::copy_n(normative.begin(), count, expected.begin());
        EXPECT_TRUE(equal_bits(got, expected)) << ops->name << " " << count;
      }
    }
  }
}

TEST(gate, is_gelu_times_up) {
  const auto gate = random_floats(1000, 33, 8.0f), up = random_floats(1000, 34);
  for (const op_table* ops : all_ops()) {
    std::vector<float> out(1000, poison);
    ops->gelu_gate(gate.data(), up.data(), 1000, out.data());
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(out[i], gelu_tanh_f32(gate[i]) * up[i]);
      const double x = gate[i], inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      EXPECT_NEAR(out[i], 0.5 * x * (1 + std::tanh(inner)) * up[i], 4e-6);
    }
    ops->gelu_erf_gate(gate.data(), up.data(), 1000, out.data());
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(out[i], gelu_erf_f32(gate[i]) * up[i]);
  }
}

TEST(add, may_write_onto_an_operand) {
  const auto a = random_floats(100, 35), b = random_floats(100, 36);
  for (const op_table* ops : all_ops()) {
    std::vector<float> out = b;
    ops->add(a.data(), out.data(), 100, out.data());
    for (int i = 0; i < 100; ++i) EXPECT_EQ(out[i], a[i] + b[i]);
  }
}

/// Pages of one layer, filled with NaN first: a read of a position that was never stored poisons the result.
struct pages {
  pages(const plan::kv_layout& layout, std::uint32_t positions) : layout(layout) {
    for (std::uint32_t p = 0; p * plan::page_positions < positions; ++p) {
      storage.emplace_back(layout.page_bytes());
      fill(storage.back());
      table.push_back(storage.back().data());
    }
  }
  void fill(std::vector<std::byte>& page) const {
    if (layout.keys == plan::kv_type::f32) {
      for (std::size_t i = 0; i + 4 <= page.size(); i += 4) std::memcpy(page.data() + i, &poison, 4);
    } else {
      const std::uint16_t code = 0x7fff;
      for (std::size_t i = 0; i + 2 <= page.size(); i += 2) std::memcpy(page.data() + i, &code, 2);
    }
  }
  kv_view view(std::uint32_t layer) const { return {table, layout, layer}; }
  plan::kv_layout layout;
  std::vector<std::vector<std::byte>> storage;
  std::vector<std::byte*> table;
};

struct attention_case {
  std::uint32_t length, heads, kv_heads, head_dim, window;
  plan::kv_type type;
  float softcap;
};

class attention : public testing::TestWithParam<attention_case> {};

TEST_P(attention, is_the_softmax_over_what_a_query_sees) {
  const attention_case& c = GetParam();
  const plan::kv_layout layout{2, c.kv_heads, c.head_dim, c.type, c.type};
  const auto k = random_floats(std::size_t{c.length} * c.kv_heads * c.head_dim, 41, 2.0f);
  const auto v = random_floats(std::size_t{c.length} * c.kv_heads * c.head_dim, 42);
  const auto q = random_floats(std::size_t{c.length} * c.heads * c.head_dim, 43, 2.0f);
  const float scale = 1 / std::sqrt(static_cast<float>(c.head_dim));
  std::vector<float> normative(q.size(), poison);
  pages store(layout, c.length);
  reference_ops().store_kv({k.data(), v.data(), c.length, 0, store.view(1)});
  reference_ops().attention(
      {q.data(), normative.data(), c.length, 0, c.heads, 0, c.heads, scale, c.softcap, c.window, store.view(1)});

  const auto stored = [&](float x) {
    return c.type == plan::kv_type::f32   ? x
           : c.type == plan::kv_type::f16 ? f16_to_f32(f32_to_f16_saturated(x))
                                          : bf16_to_f32(f32_to_bf16(x));
  };
  for (std::uint32_t t = 0; t < c.length; t += 7) {
    for (std::uint32_t head = 0; head < c.heads; ++head) {
      const std::uint32_t kv = head / (c.heads / c.kv_heads);
      const std::uint32_t begin = c.window != 0 && t + 1 > c.window ? t + 1 - c.window : 0;
      std::vector<double> s, out(c.head_dim, 0.0);
      for (std::uint32_t p = begin; p <= t; ++p) {
        double dot = 0;
        for (std::uint32_t d = 0; d < c.head_dim; ++d)
          dot += static_cast<double>(q[(t * c.heads + head) * c.head_dim + d]) *
                 stored(k[(p * c.kv_heads + kv) * c.head_dim + d]);
        dot *= scale;
        s.push_back(c.softcap != 0 ? c.softcap * std::tanh(dot / c.softcap) : dot);
      }
      const double maximum = *std::max_element(s.begin(), s.end());
      double sum = 0;
      for (std::uint32_t p = begin; p <= t; ++p) {
        const double w = std::exp(s[p - begin] - maximum);
        sum += w;
        for (std::uint32_t d = 0; d < c.head_dim; ++d) out[d] += w * stored(v[(p * c.kv_heads + kv) * c.head_dim + d]);
      }
      for (std::uint32_t d = 0; d < c.head_dim; ++d)
        ASSERT_NEAR(normative[(t * c.heads + head) * c.head_dim + d], out[d] / sum, 5e-6)
            << "token " << t << " head " << head;
    }
  }

  // Every table, stored in pieces and asked in pieces: the same bits.
  for (const op_table* ops : all_ops()) {
    for (const std::uint32_t chunk : {1u, 33u, 512u}) {
      pages other(layout, c.length);
      std::vector<float> y(q.size(), poison);
      for (std::uint32_t from = 0; from < c.length; from += chunk) {
        const std::uint32_t tokens = std::min(chunk, c.length - from);
        const std::size_t kv_at = std::size_t{from} * c.kv_heads * c.head_dim,
                          q_at = std::size_t{from} * c.heads * c.head_dim;
        ops->store_kv({k.data() + kv_at, v.data() + kv_at, tokens, from, other.view(1)});
        for (std::uint32_t head = 0; head < c.heads; head += 3)
          ops->attention({q.data() + q_at, y.data() + q_at, tokens, from, c.heads, head, std::min(head + 3, c.heads),
                          scale, c.softcap, c.window, other.view(1)});
      }
      ASSERT_TRUE(equal_bits(y, normative)) << ops->name << " chunk " << chunk;
      for (std::size_t page = 0; page < store.storage.size(); ++page)
        ASSERT_EQ(std::memcmp(other.storage[page].data(), store.storage[page].data(), layout.page_bytes()), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(shapes, attention,
                         testing::Values(attention_case{70, 4, 2, 16, 0, plan::kv_type::f32, 0.0f},
                                         attention_case{70, 4, 2, 16, 0, plan::kv_type::f16, 0.0f},
                                         attention_case{300, 9, 3, 64, 0, plan::kv_type::f16, 0.0f},
                                         attention_case{530, 2, 1, 20, 0, plan::kv_type::f32, 0.0f},
                                         attention_case{300, 2, 1, 32, 100, plan::kv_type::f16, 0.0f},
                                         attention_case{300, 2, 2, 32, 256, plan::kv_type::f32, 0.0f},
                                         attention_case{300, 8, 1, 128, 0, plan::kv_type::bf16, 0.0f},
                                         attention_case{300, 4, 1, 256, 40, plan::kv_type::f16, 0.0f},
                                         attention_case{270, 4, 1, 80, 0, plan::kv_type::f16, 30.0f}));

TEST(attention_store, saturates_what_f16_cannot_hold) {
  const plan::kv_layout layout{1, 1, 2, plan::kv_type::f16, plan::kv_type::f16};
  for (const op_table* ops : all_ops()) {
    pages store(layout, 1);
    const float k[2] = {1e9f, -1e9f}, v[2] = {70000.0f, -70000.0f}, q[2] = {0.0f, 0.0f};
    ops->store_kv({k, v, 1, 0, store.view(0)});
    float out[2];
    ops->attention({q, out, 1, 0, 1, 0, 1, 1.0f, 0.0f, 0, store.view(0)});
    EXPECT_EQ(out[0], 65504.0f);
    EXPECT_EQ(out[1], -65504.0f);
  }
}

TEST(tables, those_that_this_cpu_lacks_are_named) {
  std::vector<std::string_view> lacking{"reference", "reference_fma", "avx2", "avx512", "avx512_vnni"};
  for (const op_table* ops : all_ops()) EXPECT_EQ(std::erase(lacking, ops->name), 1u) << ops->name;
  std::cout << all_ops().size() << " tables tested, " << lacking.size() << " left out because this CPU lacks them";
  for (const std::string_view name : lacking) std::cout << ' ' << name;
  std::cout << '\n';
  RecordProperty("tables_left_out", static_cast<int>(lacking.size()));
}

TEST(tables, the_normative_one_comes_first_and_the_best_is_one_of_them) {
  ASSERT_FALSE(all_ops().empty());
  EXPECT_EQ(all_ops()[0], &reference_ops());
  EXPECT_NE(std::ranges::find(all_ops(), &best_ops()), all_ops().end());
}

}  // namespace
}  // namespace infer::kernels
