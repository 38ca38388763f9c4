// The plans of the dense families: what each does that llama does not.
// Mirrors: cohere.cc, cohere2.cc, exaone4.cc, gemma.cc, gemma2.cc, glm4.cc, gpt2.cc, granite.cc, internlm2.cc
// Mirrors: internlm3.cc, ministral3.cc, mistral.cc, olmo2.cc, phi3.cc, qwen2.cc, qwen3.cc, smollm3.cc, starcoder2.cc
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/formats/gguf.h"
#include "engine/formats/hub_folder.h"
#include "engine/models/builder.h"
#include "engine/models/gemma2.h"
#include "engine/models/glm4.h"
#include "tests/support/hub_writer.h"
#include "tests/support/temporary_folder.h"

namespace infer::models {
namespace {

using testing::Each;
using testing::ElementsAre;

const std::string folder = "tests/golden/fidelity/tiny/";

model build_file(const std::string& name) {
  auto file = formats::gguf_file::open(folder + name + ".gguf");
  EXPECT_TRUE(file) << file.error().message();
  auto built = build(std::make_shared<const formats::gguf_file>(std::move(file.value())));
  EXPECT_TRUE(built) << built.error().message();
  return std::move(built.value());
}

/// The folder of a checkpoint with `more` tensors, and perhaps with the embedding stored once more as the head.
result<model> build_with(const std::string& name, bool with_head, const std::vector<test_support::hub_tensor>& more) {
  const auto file = formats::hub_folder::open(folder + name);
  EXPECT_TRUE(file) << file.error().message();
  std::vector<test_support::hub_tensor> tensors = more;
  for (const formats::tensor_info& info : file.value().tensors()) {
    std::vector<std::uint64_t> shape(info.shape.rend() - info.rank, info.shape.rend());
    const byte_view bytes = file.value().data(info);
    tensors.push_back({std::string(info.name), "F32", std::move(shape),
                       std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
    if (with_head && (info.name == "embed_tokens.weight" || info.name == "wte.weight")) {
      tensors.push_back(tensors.back());
      tensors.back().name = "lm_head.weight";
    }
  }
  const test_support::temporary_folder made;
  std::filesystem::copy(folder + name + "/config.json", made / "config.json");
  test_support::write_text(made / "model.safetensors", test_support::safetensors_bytes(tensors));
  auto opened = formats::hub_folder::open(made.path());
  EXPECT_TRUE(opened) << opened.error().message();
  return build(std::make_shared<const formats::hub_folder>(std::move(opened.value())));
}

model build_folder(const std::string& name, bool with_head) {
  auto built = build_with(name, with_head, {});
  EXPECT_TRUE(built) << built.error().message();
  return std::move(built.value());
}

std::vector<plan::op> ops_of(const plan::plan& p, plan::op_kind kind) {
  std::vector<plan::op> out;
  std::ranges::copy_if(p.ops, std::back_inserter(out), [&](const plan::op& o) { return o.kind == kind; });
  return out;
}

const plan::op_params& params_of(const model& m, const plan::op& o) {
  return m.plan.params[o.params];
}

std::vector<std::uint32_t> norm_parts(const model& m) {
  std::vector<std::uint32_t> out;
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::rms_norm)) out.push_back(params_of(m, o).norm.parts);
  return out;
}

TEST(folders, what_is_beside_the_text_model_may_have_any_type_and_axes) {
  const auto built = build_with("qwen2", false,
                                {{"model.visual.patch_embed.proj.weight", "F32", {1, 1, 1, 1, 2}, std::string(8, 'x')},
                                 {"visual.blocks.0.attn.qkv.weight", "F8_E4M3", {2, 2}, "xxxx"},
                                 {"model.rotary_emb.inv_freq", "F32", {2}, std::string(8, 'x')},
                                 {"model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {2}, std::string(8, 'x')}});
  EXPECT_TRUE(built) << built.error().message();
  const auto needed = build_with("qwen2", false, {{"lm_head.weight", "F8_E4M3", {2, 2}, "xxxx"}});
  ASSERT_FALSE(needed);
  EXPECT_THAT(needed.error().message(), testing::HasSubstr("lm_head.weight has the type \"F8_E4M3\""));
}

TEST(qwen2, adds_biases_to_queries_keys_and_values_alone) {
  const model m = build_file("qwen2");
  const auto linear = ops_of(m.plan, plan::op_kind::linear);
  ASSERT_EQ(linear.size(), 3 * 7u);
  for (std::size_t i = 0; i < linear.size(); ++i) EXPECT_EQ(static_cast<bool>(linear[i].w[1]), i % 7 < 3) << i;
}

TEST(qwen3, norms_each_head_of_queries_and_keys) {
  const model m = build_file("qwen3_untied");
  EXPECT_THAT(norm_parts(m), ElementsAre(1, 4, 4, 1, 1, 4, 4, 1, 1));
}

TEST(folders, dynamic_rope_scaling_ends_at_the_trained_context) {
  std::ifstream file(folder + "internlm3/config.json");
  std::string config((std::istreambuf_iterator<char>(file)), {});
  const std::string kind = R"("rope_type": "default")";
  ASSERT_NE(config.find(kind), std::string::npos);
  config.replace(config.find(kind), kind.size(), R"("rope_type": "dynamic", "factor": 2.0)");
  const test_support::temporary_folder made;
  test_support::write_text(made / "config.json", config);
  std::filesystem::copy(folder + "internlm3/model.safetensors", made / "model.safetensors");
  auto opened = formats::hub_folder::open(made.path());
  ASSERT_TRUE(opened) << opened.error().message();
  const auto built = build(std::make_shared<const formats::hub_folder>(std::move(opened.value())));
  ASSERT_TRUE(built) << built.error().message();
  EXPECT_EQ(built.value().plan.most_positions, built.value().plan.trained_context);
  EXPECT_EQ(build_folder("internlm3", false).plan.most_positions, 0u);
}

TEST(tied_heads, stored_once_more_are_not_packed_twice) {
  for (const char* name : {"gemma", "gemma2", "gemma3_window", "cohere", "cohere2", "gpt2", "smollm3", "starcoder2",
                           "qwen2", "plain_tied", "granite"}) {
    SCOPED_TRACE(name);
    const model alone = build_folder(name, false), both = build_folder(name, true);
    EXPECT_EQ(alone.weights.weights.size(), both.weights.weights.size());
    EXPECT_EQ(both.plan.ops.back().w[0].index, both.plan.ops.front().w[0].index);
  }
}

TEST(gemma, scales_the_embedding_and_gates_by_gelu) {
  const model m = build_file("gemma");
  EXPECT_EQ(params_of(m, m.plan.ops.front()).embed.scale, std::sqrt(32.0f));
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::gate))
    EXPECT_EQ(params_of(m, o).gate.act, plan::activation::gelu_tanh);
}

TEST(gemma2, every_other_layer_has_a_window_beginning_with_the_first) {
  const model m = build_file("gemma2");
  ASSERT_EQ(m.plan.groups.size(), 2u);
  EXPECT_EQ(m.plan.groups[0].window, 0u);
  EXPECT_EQ(m.plan.groups[1].window, 11u);
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::attention)) EXPECT_EQ(o.group, o.layer % 2 == 0 ? 1 : 0);
}

TEST(gemma2, caps_scores_and_logits) {
  const model m = build_file("gemma2");
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::attention)) {
    EXPECT_EQ(params_of(m, o).attention.softcap, 5.0f);
    EXPECT_EQ(params_of(m, o).attention.scale, 0.25f);
  }
  EXPECT_EQ(params_of(m, m.plan.ops.back()).output.softcap, 3.0f);
}

TEST(gemma2, the_27b_model_scales_scores_by_its_width) {
  const auto row = std::ranges::find(gemma2.hyper, hyper::attention_scale, &hyper_row::field);
  ASSERT_NE(row, gemma2.hyper.end());
  hyper_values h;
  h[hyper::width] = 4608;
  h[hyper::heads] = 32;
  h[hyper::head_dim] = 128;
  h[hyper::layers] = 46;
  EXPECT_DOUBLE_EQ(row->otherwise(h), 1 / std::sqrt(144.0));
  h[hyper::layers] = 42;
  EXPECT_DOUBLE_EQ(row->otherwise(h), 1 / std::sqrt(128.0));
}

TEST(granite, multiplies_embedding_scores_residuals_and_divides_logits) {
  const model m = build_file("granite");
  EXPECT_EQ(params_of(m, m.plan.ops.front()).embed.scale, 3.0f);
  EXPECT_EQ(params_of(m, m.plan.ops.back()).output.scale, 1.0f / 6);
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::attention)) EXPECT_EQ(params_of(m, o).attention.scale, 0.125f);
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::linear))
    EXPECT_EQ(params_of(m, o).linear.scale, o.in[1] == plan::no_slot ? 1.0f : 0.625f);
}

TEST(olmo2, norms_after_its_blocks_and_over_all_heads_together) {
  const model m = build_file("olmo2");
  EXPECT_EQ(norm_parts(m).size(), 3 * 4 + 1u);
  EXPECT_THAT(norm_parts(m), Each(1));
  const plan::slot_id stream = m.plan.ops.front().out[0];
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::rms_norm)) EXPECT_NE(o.in[0], stream);
  const auto linear = ops_of(m.plan, plan::op_kind::linear);
  for (const std::size_t first : {0, 1, 2, 4, 5}) EXPECT_EQ(linear[first].in[0], stream) << first;
}

TEST(olmo2, a_window_is_in_all_layers_but_each_fourth) {
  const model m = build_file("olmo3");
  ASSERT_EQ(m.plan.groups.size(), 2u);
  EXPECT_EQ(m.plan.groups[1].window, 13u);
  EXPECT_THAT(m.plan.layer_in_group, ElementsAre(0, 1, 2, 0, 3));
}

TEST(exaone4, layers_without_a_window_do_not_turn_where_others_have_one) {
  const model m = build_file("exaone4");
  EXPECT_THAT(m.plan.layer_in_group, ElementsAre(0, 1, 2, 0, 3));
  std::vector<std::uint16_t> layers;
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::rope)) layers.push_back(o.layer);
  EXPECT_THAT(layers, ElementsAre(0, 0, 1, 1, 2, 2, 4, 4));
  EXPECT_EQ(ops_of(build_file("exaone4_full").plan, plan::op_kind::rope).size(), 4u);
}

TEST(exaone4, rope_divisors_hold_for_layers_with_a_window) {
  const model m = build_file("exaone4");
  const auto& frequency = params_of(m, ops_of(m.plan, plan::op_kind::rope)[0]).rope.inverse_frequency;
  EXPECT_FLOAT_EQ(frequency.back(), static_cast<float>(std::pow(1e4, -6.0 / 8) / 8));
}

TEST(internlm2, has_biases_where_the_file_has_them) {
  const model m = build_file("internlm2");
  const auto linear = ops_of(m.plan, plan::op_kind::linear);
  for (std::size_t i = 0; i < linear.size(); ++i) EXPECT_EQ(static_cast<bool>(linear[i].w[1]), i % 7 < 4) << i;
}

TEST(cohere, both_blocks_read_one_layer_norm) {
  const model m = build_file("cohere");
  EXPECT_TRUE(ops_of(m.plan, plan::op_kind::rms_norm).empty());
  const auto norms = ops_of(m.plan, plan::op_kind::layer_norm);
  ASSERT_EQ(norms.size(), 3u);
  const auto linear = ops_of(m.plan, plan::op_kind::linear);
  for (const std::size_t first : {0, 1, 2, 4, 5}) EXPECT_EQ(linear[first].in[0], norms[0].out[0]) << first;
  for (const std::size_t last : {3, 6}) EXPECT_EQ(linear[last].in[1], norms[0].in[0]) << last;
  EXPECT_EQ(params_of(m, m.plan.ops.back()).output.scale, 0.25f);
}

TEST(cohere2, only_layers_with_a_window_turn) {
  const model m = build_file("cohere2");
  ASSERT_EQ(m.plan.groups.size(), 2u);
  EXPECT_EQ(m.plan.groups[1].window, 12u);
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::rope)) EXPECT_NE(o.layer, 3);
  EXPECT_EQ(ops_of(m.plan, plan::op_kind::rope).size(), 8u);
}

TEST(starcoder2, has_biased_norms_and_no_gate) {
  const model m = build_file("starcoder2");
  const auto norms = ops_of(m.plan, plan::op_kind::layer_norm);
  ASSERT_EQ(norms.size(), 5u);
  for (const plan::op& o : norms) EXPECT_TRUE(o.w[1]);
  EXPECT_EQ(m.weights.weights[norms[0].w[1].index].name, "blk.0.attn_norm.bias");
  EXPECT_EQ(m.weights.weights[norms[1].w[1].index].name, "blk.0.ffn_norm.bias");
  EXPECT_TRUE(ops_of(m.plan, plan::op_kind::gate).empty());
  EXPECT_EQ(ops_of(m.plan, plan::op_kind::activate).size(), 2u);
  const auto linear = ops_of(m.plan, plan::op_kind::linear);
  ASSERT_EQ(linear.size(), 2 * 6u);
  for (const plan::op& o : linear) EXPECT_TRUE(o.w[1]);
}

TEST(smollm3, each_fourth_layer_does_not_turn) {
  const model m = build_file("smollm3");
  std::vector<std::uint16_t> layers;
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::rope)) layers.push_back(o.layer);
  EXPECT_THAT(layers, ElementsAre(0, 0, 1, 1, 2, 2, 4, 4));
}

TEST(phi3, parts_of_one_tensor_lie_behind_each_other) {
  const model m = build_file("phi3");
  std::vector<const plan::weight_source*> parts;
  for (const plan::weight_source& w : m.weights.weights)
    if (w.name == "blk.1.attn_qkv.weight" || w.name == "blk.1.ffn_up.weight") parts.push_back(&w);
  ASSERT_EQ(parts.size(), 5u);
  const std::vector<std::uint32_t> rows{32, 16, 16, 40, 40};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(parts[i]->rows, rows[i]);
    EXPECT_EQ(parts[i]->bytes.size(), std::size_t{rows[i]} * 32 * 4);
    if (i % 3 == 0) continue;
    EXPECT_EQ(parts[i]->bytes.data(), parts[i - 1]->bytes.data() + parts[i - 1]->bytes.size());
  }
}

TEST(phi3, the_window_is_in_every_layer_and_a_part_of_a_head_turns) {
  const model windowed = build_file("phi3");
  ASSERT_EQ(windowed.plan.groups.size(), 1u);
  EXPECT_EQ(windowed.plan.groups[0].window, 17u);
  EXPECT_EQ(windowed.plan.groups[0].layers, 3u);
  const model partial = build_file("phi3_partial");
  EXPECT_EQ(partial.plan.groups[0].window, 0u);
  for (const plan::op& o : ops_of(partial.plan, plan::op_kind::rope))
    EXPECT_EQ(params_of(partial, o).rope.inverse_frequency.size(), 6u);
}

TEST(phi3, rope_factors_depend_on_how_long_a_sequence_may_get) {
  const model m = build_file("phi3_long");
  EXPECT_EQ(m.plan.long_rope_from, 24u);
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::rope)) {
    const plan::rope_params& rope = params_of(m, o).rope;
    const std::vector<float> divisors{1, 1.25f, 1.5f, 2}, long_divisors{1, 3.5f, 9, 20.5f};
    ASSERT_EQ(rope.inverse_frequency.size(), 4u);
    ASSERT_EQ(rope.long_frequency.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_FLOAT_EQ(rope.inverse_frequency[i], static_cast<float>(std::pow(1e4, -0.25 * i) / divisors[i]));
      EXPECT_FLOAT_EQ(rope.long_frequency[i], static_cast<float>(std::pow(1e4, -0.25 * i) / long_divisors[i]));
    }
    EXPECT_FLOAT_EQ(rope.magnitude, static_cast<float>(std::sqrt(1 + std::log(8.0) / std::log(24.0))));
  }
}

TEST(glm4, norms_around_its_blocks_and_turns_half_of_each_head) {
  const model m = build_file("glm4");
  EXPECT_EQ(norm_parts(m).size(), 3 * 4 + 1u);
  const auto rope = ops_of(m.plan, plan::op_kind::rope);
  ASSERT_EQ(rope.size(), 3 * 2u);
  EXPECT_EQ(params_of(m, rope[0]).rope.inverse_frequency.size(), 4u) << "half of 16, in pairs";
  const auto linear = ops_of(m.plan, plan::op_kind::linear);
  ASSERT_EQ(linear.size(), 3 * 7u);
  for (std::size_t i = 0; i < linear.size(); ++i) EXPECT_EQ(static_cast<bool>(linear[i].w[1]), i % 7 < 3) << i;
  const plan::weight_source& q = m.weights.weights[linear[0].w[0].index];
  EXPECT_EQ(q.order, plan::row_order::pairs_to_halves);
  EXPECT_EQ(q.head_dim, 16u);
  EXPECT_EQ(q.paired_rows, 8u);
  const auto row = std::ranges::find(glm4.hyper, hyper::rope_dims, &hyper_row::field);
  ASSERT_NE(row, glm4.hyper.end());
  EXPECT_EQ(row->otherwise(m.hyper), 8) << "a configuration need not say so";
}

TEST(gpt2, adds_learned_positions_and_turns_nothing) {
  const model m = build_file("gpt2");
  EXPECT_EQ(m.plan.most_positions, 64u);
  EXPECT_TRUE(ops_of(m.plan, plan::op_kind::rope).empty());
  const auto embeds = ops_of(m.plan, plan::op_kind::embed);
  ASSERT_EQ(embeds.size(), 2u);
  EXPECT_FALSE(params_of(m, embeds[0]).embed.by_position);
  EXPECT_TRUE(params_of(m, embeds[1]).embed.by_position);
  EXPECT_EQ(m.weights.weights[embeds[1].w[0].index].name, "position_embd.weight");
}

TEST(gpt2, matrices_of_a_hub_folder_lie_across) {
  auto file = formats::open_model(folder + "gpt2");
  ASSERT_TRUE(file) << file.error().message();
  const auto built = build(std::move(file.value()));
  ASSERT_TRUE(built) << built.error().message();
  std::size_t across = 0;
  for (const plan::weight_source& w : built.value().weights.weights) {
    if (w.transposed_stride == 0) continue;
    ++across;
    EXPECT_NE(w.name.find(".c_"), std::string::npos) << w.name;
  }
  EXPECT_EQ(across, 2 * 6u);
}

TEST(mistral, has_its_window_in_the_layers_that_are_listed) {
  auto file = formats::open_model(folder + "ministral");
  ASSERT_TRUE(file) << file.error().message();
  const auto built = build(std::move(file.value()));
  ASSERT_TRUE(built) << built.error().message();
  for (const plan::op& o : ops_of(built.value().plan, plan::op_kind::attention))
    EXPECT_EQ(built.value().plan.groups[o.group].window, o.layer == 0 || o.layer == 3 ? 11u : 0u) << o.layer;
}

TEST(ministral3, queries_alone_grow_with_the_position) {
  const model m = build_file("ministral3");
  const auto ropes = ops_of(m.plan, plan::op_kind::rope);
  ASSERT_EQ(ropes.size(), 6u);
  for (std::size_t i = 0; i < ropes.size(); ++i) {
    const plan::rope_params& rope = params_of(m, ropes[i]).rope;
    EXPECT_EQ(rope.growth, i % 2 == 0 ? 0.3f : 0.0f);
    EXPECT_EQ(rope.growth_length, i % 2 == 0 ? 16u : 0u);
    EXPECT_EQ(rope.magnitude, 1.0f);
  }
}

TEST(olmo3, scales_rope_of_layers_without_a_window_alone) {
  const model m = build_file("olmo3_yarn");
  for (const plan::op& o : ops_of(m.plan, plan::op_kind::rope))
    EXPECT_EQ(params_of(m, o).rope.magnitude, o.layer == 3 ? 1.3f : 1.0f) << o.layer;
}

}  // namespace
}  // namespace infer::models
