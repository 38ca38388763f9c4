// Tiny random checkpoints against the logits of Hugging Face's modelling code, tests/golden/fidelity/tiny.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/core/bytes.h"
#include "tests/support/model_run.h"

namespace infer::decode {
namespace {

/// Shapes: ids [positions]; logits [positions, vocabulary].
struct golden_logits {
  std::vector<token_id> ids;
  std::vector<float> logits;
  std::size_t vocabulary = 0;
};

golden_logits read_golden(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const auto* at = reinterpret_cast<const std::byte*>(bytes.data());
  golden_logits out;
  if (bytes.size() < 8) return out;
  const auto positions = static_cast<std::size_t>(load_le<std::int32_t>(at));
  out.vocabulary = static_cast<std::size_t>(load_le<std::int32_t>(at + 4));
  if (bytes.size() != 8 + positions * 4 * (1 + out.vocabulary)) return out;
  at += 8;
  for (std::size_t i = 0; i < positions; ++i, at += 4) out.ids.push_back(load_le<std::int32_t>(at));
  for (std::size_t i = 0; i < positions * out.vocabulary; ++i, at += 4) out.logits.push_back(load_le<float>(at));
  return out;
}

double relative_distance(std::span<const float> got, std::span<const float> expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(static_cast<double>(got[i]) - expected[i], 2);
    norm += std::pow(static_cast<double>(expected[i]), 2);
  }
  return std::sqrt(difference / norm);
}

/// Index of the largest value, and how far it is above the next.
std::pair<std::size_t, float> best_and_gap(std::span<const float> values) {
  std::vector<float> sorted(values.begin(), values.end());
  std::ranges::nth_element(sorted, sorted.begin() + 1, std::greater{});
  const auto best = std::ranges::max_element(values);
  return {static_cast<std::size_t>(best - values.begin()), *best - sorted[1]};
}

class tiny_checkpoint : public testing::TestWithParam<const char*> {};

TEST_P(tiny_checkpoint, gives_the_logits_of_the_modelling_code_at_every_position) {
  const std::string base = std::string("tests/golden/fidelity/tiny/") + GetParam();
  const golden_logits golden = read_golden(base + ".logits");
  ASSERT_EQ(golden.ids.size(), 48u) << base;
  test_support::model_run model(base + ".gguf", test_support::f32_mode, 256);
  ASSERT_EQ(model.plan().vocabulary, golden.vocabulary);
  const auto got = model.run(std::span(&golden.ids, 1), 48)[0].logits;
  ASSERT_EQ(got.size(), golden.logits.size());
  double worst = 0;
  for (std::size_t position = 0; position < golden.ids.size(); ++position) {
    const auto ours = std::span(got).subspan(position * golden.vocabulary, golden.vocabulary);
    const auto theirs = std::span(golden.logits).subspan(position * golden.vocabulary, golden.vocabulary);
    const double distance = relative_distance(ours, theirs);
    worst = std::max(worst, distance);
    EXPECT_LE(distance, 1e-4) << base << " at position " << position;
    const auto [best, gap] = best_and_gap(theirs);
    if (gap > 1e-3f) {
      EXPECT_EQ(best_and_gap(ours).first, best) << base << " at position " << position;
    }
  }
  RecordProperty("worst_relative_distance", std::to_string(worst));
  std::printf("%s: worst relative distance %.2e\n", GetParam(), worst);
}

INSTANTIATE_TEST_SUITE_P(llama, tiny_checkpoint,
                         testing::Values("plain_tied", "plain_untied", "linear_rope", "llama3_rope", "biases"),
                         [](const auto& info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(gemma3, tiny_checkpoint,
                         testing::Values("gemma3_window", "gemma3_linear_rope", "gemma3_local_only"),
                         [](const auto& info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(dense, tiny_checkpoint,
                         testing::Values("qwen2", "qwen2_linear_rope", "qwen3", "qwen3_untied", "gemma", "gemma2",
                                         "granite", "granite_biases", "olmo2", "olmo3", "smollm3", "phi3",
                                         "phi3_partial", "exaone4", "exaone4_full", "internlm2", "cohere",
                                         "cohere_biases", "cohere2", "starcoder2"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace infer::decode
