// The models that benches measure: every type loads, and its logits are of a sane size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/quant/blocks.h"
#include "tests/support/model_run.h"
#include "tests/support/synthetic_model.h"
#include "tests/support/temporary_folder.h"

namespace infer::test_support {
namespace {

class synthetic_models : public testing::TestWithParam<tensor_type> {};

TEST_P(synthetic_models, load_and_give_logits_of_a_sane_size) {
  temporary_folder folder;
  const auto path = folder.path() / "m.gguf";
  write_synthetic_model(path, {.shape = {"small", 256, 3, 768, 4, 2, 64}, .type = GetParam(), .vocabulary = 600});
  model_run run(path, default_mode, 64);
  const std::vector<token_id> ids{5, 300, 17, 599, 42, 1, 77, 250};
  const auto record = run.run(std::span(&ids, 1), 8)[0];
  ASSERT_EQ(record.logits.size(), ids.size() * 600);
  double squares = 0;
  for (const float v : record.logits) squares += double{v} * v;
  const double deviation = std::sqrt(squares / static_cast<double>(record.logits.size()));
  EXPECT_GT(deviation, 0.3);
  EXPECT_LT(deviation, 3.0);
}

INSTANTIATE_TEST_SUITE_P(every_type, synthetic_models, testing::ValuesIn(quant::supported_types),
                         [](const auto& info) { return std::string(info_of(info.param).name); });

TEST(synthetic_model, refuses_widths_that_do_not_fill_blocks) {
  temporary_folder folder;
  const auto shape = synthetic_shape_named("0.5B");
  ASSERT_TRUE(shape);
  EXPECT_THROW(write_synthetic_model(folder.path() / "m.gguf", {.shape = *shape, .type = tensor_type::q4_k}),
               std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "m.gguf"));
}

TEST(synthetic_model, knows_its_shapes_by_name) {
  EXPECT_EQ(synthetic_shape_named("1.5B")->ffn_width, 8960u);
  EXPECT_FALSE(synthetic_shape_named("7B"));
}

}  // namespace
}  // namespace infer::test_support
