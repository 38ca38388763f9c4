// The plan of a gemma3 model: what is around its blocks, and which layers have a window.
#include "engine/models/gemma3.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/formats/gguf.h"
#include "engine/models/builder.h"

namespace infer::models {
namespace {

using testing::ElementsAre;

model build_file(const std::string& name) {
  auto file = formats::gguf_file::open("tests/golden/fidelity/tiny/" + name + ".gguf");
  EXPECT_TRUE(file) << file.error().message();
  auto built = build(std::make_shared<const formats::gguf_file>(std::move(file.value())));
  EXPECT_TRUE(built) << built.error().message();
  return std::move(built.value());
}

std::vector<plan::op> ops_of(const plan::plan& p, plan::op_kind kind) {
  std::vector<plan::op> out;
  std::ranges::copy_if(p.ops, std::back_inserter(out), [&](const plan::op& o) { return o.kind == kind; });
  return out;
}

TEST(gemma3, all_layers_but_each_sixth_have_a_window_and_state_of_their_own) {
  const model m = build_file("gemma3_window");
  ASSERT_EQ(m.plan.groups.size(), 2u);
  EXPECT_EQ(m.plan.groups[0].kind, plan::state_kind::paged);
  EXPECT_EQ(m.plan.groups[0].layers, 1u);
  EXPECT_EQ(m.plan.groups[0].window, 0u);
  EXPECT_EQ(m.plan.groups[1].kind, plan::state_kind::windowed);
  EXPECT_EQ(m.plan.groups[1].layers, 6u);
  EXPECT_EQ(m.plan.groups[1].window, 16u);
  EXPECT_THAT(m.plan.layer_in_group, ElementsAre(0, 1, 2, 3, 4, 0, 5));
  for (const auto kind : {plan::op_kind::store_kv, plan::op_kind::attention}) {
    for (const plan::op& o : ops_of(m.plan, kind)) EXPECT_EQ(o.group, o.layer == 5 ? 0 : 1);
  }
}

TEST(gemma3, windowed_layers_turn_by_another_base_and_know_no_factor) {
  const model m = build_file("gemma3_linear_rope");
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::rope)) {
    const auto& frequency = m.plan.params[o.params].rope.inverse_frequency;
    ASSERT_EQ(frequency.size(), 12u);
    EXPECT_EQ(frequency[0], o.layer == 5 ? 1.0f / 8 : 1.0f);
    EXPECT_FLOAT_EQ(frequency[11] / frequency[0], static_cast<float>(std::pow(o.layer == 5 ? 1e6 : 1e4, -22.0 / 24)));
  }
}

TEST(gemma3, a_model_of_fewer_layers_than_a_period_has_only_windows) {
  const model m = build_file("gemma3_local_only");
  ASSERT_EQ(m.plan.groups.size(), 1u);
  EXPECT_EQ(m.plan.groups[0].kind, plan::state_kind::windowed);
  EXPECT_EQ(m.plan.groups[0].layers, 3u);
}

TEST(gemma3, blocks_are_normed_on_both_sides_and_added_afterwards) {
  const model m = build_file("gemma3_window");
  EXPECT_EQ(ops_of(m.plan, plan::op_kind::add).size(), 14u);
  // Before and after both blocks, one for all query heads, one for the key heads; and the last one.
  const auto norms = ops_of(m.plan, plan::op_kind::rms_norm);
  EXPECT_EQ(norms.size(), 7 * 6 + 1u);
  EXPECT_EQ(std::ranges::count_if(norms, [&](const plan::op& o) { return m.plan.params[o.params].norm.parts == 4; }),
            7);
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::linear)) EXPECT_EQ(o.in[1], plan::no_slot);
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::gate))
    EXPECT_EQ(m.plan.params[o.params].gate.act, plan::activation::gelu_tanh);
}

TEST(gemma3, scales_the_embedding_and_the_scores) {
  const model m = build_file("gemma3_window");
  EXPECT_EQ(m.plan.params[m.plan.ops.front().params].embed.scale, std::sqrt(32.0f));
  EXPECT_EQ(m.plan.params[ops_of(m.plan, plan::op_kind::attention)[0].params].attention.scale, 0.25f);
}

}  // namespace
}  // namespace infer::models
