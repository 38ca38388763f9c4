// Tiny random checkpoints against the logits of Hugging Face's modelling code, tests/golden/fidelity/tiny.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
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

/// A checkpoint and the files that hold it: GGUF, a hub folder, or both.
struct checkpoint {
  const char* name;
  bool gguf = true, hub = true;
};

class tiny_checkpoint : public testing::TestWithParam<checkpoint> {
 protected:
  std::string base() const { return std::string("tests/golden/fidelity/tiny/") + GetParam().name; }
  void compare(const std::vector<float>& got, const golden_logits& golden) const;
};

void tiny_checkpoint::compare(const std::vector<float>& got, const golden_logits& golden) const {
  ASSERT_EQ(got.size(), golden.logits.size());
  double worst = 0;
  for (std::size_t position = 0; position < golden.ids.size(); ++position) {
    const auto ours = std::span(got).subspan(position * golden.vocabulary, golden.vocabulary);
    const auto theirs = std::span(golden.logits).subspan(position * golden.vocabulary, golden.vocabulary);
    const double distance = relative_distance(ours, theirs);
    worst = std::max(worst, distance);
    EXPECT_LE(distance, 1e-4) << base() << " at position " << position;
    const auto [best, gap] = best_and_gap(theirs);
    if (gap > 1e-3f) {
      EXPECT_EQ(best_and_gap(ours).first, best) << base() << " at position " << position;
    }
  }
  std::printf("%s: worst relative distance %.2e\n", GetParam().name, worst);
}

TEST_P(tiny_checkpoint, gives_the_logits_of_the_modelling_code_at_every_position) {
  const golden_logits golden = read_golden(base() + ".logits");
  ASSERT_EQ(golden.ids.size(), 48u) << base();
  std::vector<std::vector<float>> got;
  for (const std::string& path : {GetParam().gguf ? base() + ".gguf" : "", GetParam().hub ? base() : ""}) {
    if (path.empty()) continue;
    test_support::model_run model(path, test_support::f32_mode, 64);
    ASSERT_EQ(model.plan().vocabulary, golden.vocabulary);
    got.push_back(model.run(std::span(&golden.ids, 1), 48)[0].logits);
    compare(got.back(), golden);
  }
  ASSERT_FALSE(got.empty());
  // The same weights from both formats: the same bits.
  EXPECT_EQ(std::memcmp(got.front().data(), got.back().data(), got.front().size() * sizeof(float)), 0) << base();
}

constexpr checkpoint hub_alone(const char* name) {
  return {name, false, true};
}
const auto name_of = [](const auto& info) { return std::string(info.param.name); };

INSTANTIATE_TEST_SUITE_P(llama, tiny_checkpoint,
                         testing::Values(checkpoint{"plain_tied"}, checkpoint{"plain_untied"},
                                         checkpoint{"linear_rope"}, checkpoint{"llama3_rope"}, checkpoint{"biases"},
                                         checkpoint{"llama_yarn"}, hub_alone("llama_yarn_whole")),
                         name_of);

INSTANTIATE_TEST_SUITE_P(gemma3, tiny_checkpoint,
                         testing::Values(checkpoint{"gemma3_window"}, checkpoint{"gemma3_linear_rope"},
                                         checkpoint{"gemma3_local_only"}, hub_alone("gemma3_wrapped")),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    dense, tiny_checkpoint,
    testing::Values(checkpoint{"qwen2"}, checkpoint{"qwen2_linear_rope"}, hub_alone("qwen2_window"),
                    checkpoint{"qwen3"}, checkpoint{"qwen3_untied"}, hub_alone("qwen3_sharded"),
                    hub_alone("qwen3_window_yarn"), checkpoint{"gemma"}, checkpoint{"gemma2"}, checkpoint{"granite"},
                    checkpoint{"granite_biases"}, checkpoint{"olmo2"}, checkpoint{"olmo3"}, checkpoint{"olmo3_yarn"},
                    checkpoint{"smollm3"}, checkpoint{"phi3"}, checkpoint{"phi3_partial"}, checkpoint{"phi3_long"},
                    checkpoint{"phi3_short"}, checkpoint{"exaone4"}, checkpoint{"exaone4_full"},
                    checkpoint{"internlm2"}, hub_alone("internlm3"), checkpoint{"cohere"}, checkpoint{"cohere_biases"},
                    checkpoint{"cohere_norms"}, checkpoint{"cohere2"}, checkpoint{"starcoder2"},
                    hub_alone("starcoder2_window"), hub_alone("mistral"), hub_alone("ministral"),
                    checkpoint{"ministral3"}, checkpoint{"gpt2"}, hub_alone("gpt2_erf"), hub_alone("llama_gelu"),
                    hub_alone("smollm3_window"), hub_alone("ministral3_window"), checkpoint{"glm4"},
                    checkpoint{"glm4_quarter"}, hub_alone("gemma_untied"), hub_alone("gemma2_own_head"),
                    hub_alone("cohere_untied"), hub_alone("cohere2_untied")),
    name_of);

}  // namespace
}  // namespace infer::decode
