// Every family's operations give the same bits under every table, chunk and batch, past the window.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/support/model_run.h"

namespace infer::decode {
namespace {

std::vector<token_id> random_ids(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<token_id> ids(count);
  for (token_id& id : ids) id = static_cast<token_id>(random() % 200);
  return ids;
}

class family_equality : public testing::TestWithParam<const char*> {};

TEST_P(family_equality, every_table_chunk_and_batch_gives_the_same_bits) {
  const std::string model = std::string("tests/golden/fidelity/tiny/") + GetParam() + ".gguf";
  const std::vector<std::vector<token_id>> texts{random_ids(61, 1), random_ids(40, 2)};
  test_support::model_run normative(model, test_support::default_mode, 96, 2, kernels::reference_ops());
  const auto expected = normative.run(texts, 61);
  for (const kernels::op_table* ops : kernels::all_ops()) {
    SCOPED_TRACE(ops->name);
    test_support::model_run run(model, test_support::default_mode, 96, 2, *ops);
    for (const std::size_t chunk : {1, 7, 32}) {
      const auto got = run.run(texts, chunk);
      // Windowed layers keep what the last chunk needed: only logits are there for every position.
      for (std::size_t text = 0; text < texts.size(); ++text)
        EXPECT_EQ(std::memcmp(got[text].logits.data(), expected[text].logits.data(),
                              expected[text].logits.size() * sizeof(float)),
                  0)
            << "chunk " << chunk << ", text " << text;
    }
    const auto alone = run.run(std::span(texts).last(1), 40);
    EXPECT_EQ(std::memcmp(alone[0].logits.data(), expected[1].logits.data(), expected[1].logits.size() * sizeof(float)),
              0);
  }
}

INSTANTIATE_TEST_SUITE_P(tiny, family_equality,
                         testing::Values("gemma3_window", "gemma2", "granite", "olmo3", "smollm3", "phi3", "exaone4",
                                         "cohere2", "starcoder2", "glm4"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace infer::decode
