// From descriptor and file to plan: what is missing is named, all at once; rows of q and k come out in half order.
// Mirrors: families.cc, hub_names.cc, llama.cc, plan_writer.cc
#include "engine/models/builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/formats/gguf.h"
#include "engine/models/gemma2.h"
#include "engine/models/gpt2.h"
#include "engine/models/hub_names.h"
#include "engine/models/internlm2.h"
#include "engine/models/llama.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace infer::models {
namespace {

using test_support::tiny_llama;
using test_support::tiny_llama_writer;

result<model> build_bytes(const std::vector<std::byte>& bytes) {
  INFER_TRY(auto file, formats::gguf_file::from_memory(bytes));
  return build(std::make_shared<const formats::gguf_file>(std::move(file)));
}

std::string message_of(const result<model>& r) {
  return r ? "" : r.error().message();
}

TEST(builder, lays_out_a_tiny_llama) {
  const auto bytes = tiny_llama_writer({}).build();
  const auto built = build_bytes(bytes);
  ASSERT_TRUE(built) << message_of(built);
  const auto& p = built.value().plan;
  EXPECT_EQ(p.layers, 2u);
  EXPECT_EQ(p.vocabulary, test_support::tiny_vocabulary);
  EXPECT_EQ(p.trained_context, 256u);
  EXPECT_EQ(p.groups.size(), 1u);
  EXPECT_EQ(p.groups[0].kv_heads, 2u);
  EXPECT_EQ(p.ops.front().kind, plan::op_kind::embed);
  EXPECT_EQ(p.ops.back().kind, plan::op_kind::output);
  const auto count = [&](plan::op_kind kind) { return std::ranges::count(p.ops, kind, &plan::op::kind); };
  EXPECT_EQ(count(plan::op_kind::attention), 2);
  EXPECT_EQ(count(plan::op_kind::linear), 14);
  EXPECT_EQ(count(plan::op_kind::rms_norm), 5);
}

TEST(builder, every_slot_and_weight_an_operation_names_exists_and_fits) {
  const auto bytes = tiny_llama_writer({}).build();
  const auto built = build_bytes(bytes);
  ASSERT_TRUE(built);
  const auto& [family, hyper, p, weights] = built.value();
  for (const plan::op& o : p.ops) {
    for (const auto s : o.in) EXPECT_TRUE(s == plan::no_slot || s < p.slots.size());
    for (const auto s : o.out) EXPECT_TRUE(s == plan::no_slot || s < p.slots.size());
    for (const auto w : o.w) EXPECT_TRUE(!w || w.index < weights.weights.size());
    EXPECT_LT(o.params, p.params.size());
    if (o.kind == plan::op_kind::linear) {
      EXPECT_EQ(weights.weights[o.w[0].index].columns, p.slots[o.in[0]].width);
      EXPECT_EQ(weights.weights[o.w[0].index].rows, p.slots[o.out[0]].width);
    }
  }
}

TEST(builder, an_untied_head_is_used_where_it_is_there) {
  const auto tied = tiny_llama_writer({.tied = true}).build();
  const auto untied = tiny_llama_writer({.tied = false}).build();
  const auto a = build_bytes(tied);
  const auto b = build_bytes(untied);
  ASSERT_TRUE(a && b);
  const auto head = [](const model& m) { return m.weights.weights[m.plan.ops.back().w[0].index].name; };
  EXPECT_EQ(head(a.value()), "token_embd.weight");
  EXPECT_EQ(head(b.value()), "output.weight");
}

TEST(builder, an_unknown_architecture_is_named) {
  auto w = test_support::gguf_writer();
  w.add_key("general.architecture", "mystery");
  const auto built = build_bytes(w.build());
  EXPECT_NE(message_of(built).find("mystery"), std::string::npos);
}

TEST(builder, a_missing_key_is_named) {
  auto w = test_support::gguf_writer();
  w.add_key("general.architecture", "llama");
  EXPECT_NE(message_of(build_bytes(w.build())).find("llama.embedding_length"), std::string::npos);
}

TEST(builder, all_missing_and_misshapen_tensors_are_named_at_once) {
  auto w = tiny_llama_writer({.layers = 1});
  w.add_key("llama.rope.scaling.factor", 1.0f);
  // A second layer is claimed by a file that has one: every tensor of it is missing.
  auto broken = test_support::gguf_writer();
  broken.add_key("general.architecture", "llama");
  broken.add_key("llama.context_length", 64u);
  broken.add_key("llama.embedding_length", 32u);
  broken.add_key("llama.block_count", 1u);
  broken.add_key("llama.feed_forward_length", 64u);
  broken.add_key("llama.attention.head_count", 2u);
  broken.add_key("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const std::vector<float> values(32 * 8);
  broken.add_tensor("token_embd.weight", {32, 8}, values);
  broken.add_tensor("blk.0.attn_q.weight", {32, 8}, values);
  const auto message = message_of(build_bytes(broken.build()));
  EXPECT_NE(message.find("output_norm.weight is missing"), std::string::npos) << message;
  EXPECT_NE(message.find("blk.0.attn_q.weight has shape [32, 8] where [32, 32] is expected"), std::string::npos)
      << message;
  EXPECT_NE(message.find("more"), std::string::npos) << message;
}

TEST(builder, tensors_that_nothing_would_read_are_refused) {
  for (const std::string name : {"blk.1.attn_q_norm.weight", "blk.2.attn_norm.weight"}) {
    auto writer = tiny_llama_writer({.layers = 2});
    writer.add_tensor(name, {64}, std::vector<float>(64, 1.0f));
    const auto bytes = writer.build();
    EXPECT_EQ(message_of(build_bytes(bytes)), name + " is not a part of a llama model of 2 layers");
  }
}

TEST(builder, heads_that_do_not_divide_are_refused) {
  const auto message = message_of(build_bytes(tiny_llama_writer({.heads = 3, .kv_heads = 2}).build()));
  EXPECT_NE(message.find("head_count"), std::string::npos) << message;
}

TEST(builder, a_rope_scaling_that_is_not_known_is_refused) {
  const auto frequency = [](const std::vector<std::byte>& bytes) {
    const auto built = build_bytes(bytes);
    EXPECT_TRUE(built) << message_of(built);
    for (const auto& o : built.value().plan.ops) {
      if (o.kind == plan::op_kind::rope) return built.value().plan.params[o.params].rope.inverse_frequency.at(0);
    }
    return 0.0f;
  };
  const auto scaled = [](const char* type) {
    auto w = tiny_llama_writer({});
    w.add_key("llama.rope.scaling.factor", 4.0f);
    w.add_key("llama.rope.scaling.type", type);
    return w.build();
  };
  EXPECT_EQ(frequency(tiny_llama_writer({}).build()), 1.0f);
  EXPECT_EQ(frequency(scaled("linear")), 0.25f);
  EXPECT_EQ(frequency(scaled("none")), 1.0f);
  EXPECT_NE(message_of(build_bytes(scaled("spiral"))).find("spiral"), std::string::npos);
  EXPECT_EQ(frequency(scaled("yarn")), 1.0f);
}

TEST(builder, a_quantized_norm_is_refused) {
  auto w = test_support::gguf_writer();
  w = tiny_llama_writer({});
  const std::vector<std::byte> blocks(2 * 34);
  auto bytes = w;
  bytes.add_tensor("blk.0.attn_q.bias", tensor_type::q8_0, {64}, blocks);
  EXPECT_NE(message_of(build_bytes(bytes.build())).find("type Q8_0"), std::string::npos);
}

TEST(weights, rows_stored_as_pairs_map_to_halves) {
  plan::weight_source w;
  w.order = plan::row_order::pairs_to_halves;
  w.head_dim = w.paired_rows = 8;
  // Canonical row i of a head is file row 2i, row i + 4 is file row 2i + 1.
  const std::vector<std::uint32_t> expected{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};
  for (std::uint32_t row = 0; row < 16; ++row) EXPECT_EQ(plan::file_row(w, row), expected[row]);
}

TEST(weights, only_the_rows_that_are_turned_lie_in_pairs) {
  plan::weight_source w;
  w.order = plan::row_order::pairs_to_halves;
  w.head_dim = 8;
  w.paired_rows = 4;
  const std::vector<std::uint32_t> expected{0, 2, 1, 3, 4, 5, 6, 7, 8, 10, 9, 11, 12, 13, 14, 15};
  for (std::uint32_t row = 0; row < 16; ++row) EXPECT_EQ(plan::file_row(w, row), expected[row]);
}

TEST(weights, rows_in_runs_lie_a_stride_apart) {
  plan::weight_source w;
  w.run_rows = 2;
  w.run_stride = 8;
  const std::vector<std::uint32_t> expected{0, 1, 8, 9, 16, 17};
  for (std::uint32_t row = 0; row < 6; ++row) EXPECT_EQ(plan::file_row(w, row), expected[row]);
}

TEST(hub_names, follow_the_family_where_it_differs) {
  EXPECT_EQ(hub_tensor_name(llama, "token_embd.weight"), "embed_tokens.weight");
  EXPECT_EQ(hub_tensor_name(llama, "blk.{layer}.attn_q.bias"), "layers.{layer}.self_attn.q_proj.bias");
  EXPECT_EQ(hub_tensor_name(llama, "blk.{layer}.ffn_norm.weight"), "layers.{layer}.post_attention_layernorm.weight");
  EXPECT_EQ(hub_tensor_name(gemma2, "blk.{layer}.ffn_norm.weight"), "layers.{layer}.pre_feedforward_layernorm.weight");
  EXPECT_EQ(hub_tensor_name(gpt2, "blk.{layer}.attn_qkv.weight"), "h.{layer}.attn.c_attn.weight");
  EXPECT_EQ(hub_tensor_name(gpt2, "output_norm.bias"), "ln_f.bias");
  EXPECT_EQ(hub_tensor_name(llama, "rope_freqs.weight"), "");
  EXPECT_EQ(hub_rows_of(internlm2, "blk.{layer}.attn_k.weight"), hub_rows::grouped_k);
  EXPECT_EQ(hub_rows_of(internlm2, "blk.{layer}.attn_output.weight"), hub_rows::all);
}

TEST(hub_names, tensors_beside_the_text_model_are_known) {
  EXPECT_TRUE(is_hub_extra("vision_tower.encoder.layers.0.x", 2));
  EXPECT_TRUE(is_hub_extra("layers.0.self_attn.rotary_emb.inv_freq", 2));
  EXPECT_TRUE(is_hub_extra("rotary_emb.inv_freq", 2));
  EXPECT_FALSE(is_hub_extra("my_rotary_emb.inv_freq", 2));
  EXPECT_TRUE(is_hub_extra("h.1.attn.bias", 2));
  EXPECT_TRUE(is_hub_extra("layers.2.mlp.up_proj.weight", 2));
  EXPECT_FALSE(is_hub_extra("layers.1.mlp.up_proj.weight", 2));
  EXPECT_FALSE(is_hub_extra("layers.1.self_attn.sinks", 2));
  EXPECT_FALSE(is_hub_extra("layers.x.mlp", 2));
}

TEST(families, every_descriptor_is_consistent) {
  for (const family_descriptor* family : all_families()) {
    SCOPED_TRACE(family->name);
    EXPECT_FALSE(family->architectures.empty() && family->hub.model_types.empty());
    for (const auto type : family->hub.model_types) EXPECT_EQ(find_hub_family(type), family);
    for (const auto architecture : family->architectures) EXPECT_EQ(find_family(architecture), family);
    std::set<std::pair<std::string_view, hyper>> parts;  // of tensors, by their first row
    std::set<role> roles;
    for (const tensor_row& row : family->tensors) {
      EXPECT_TRUE(parts.insert({row.name, row.first_row}).second) << row.name;
      EXPECT_TRUE(row.rows_in_file != hyper::zero || row.first_row == hyper::zero) << row.name;
      EXPECT_TRUE(roles.insert(row.role).second) << row.name;
    }
    std::set<hyper> fields;
    for (const hyper_row& row : family->hyper) {
      EXPECT_TRUE(fields.insert(row.field).second) << row.key;
      EXPECT_TRUE(!row.key.empty() || row.otherwise != nullptr) << "a derived field needs a formula";
    }
  }
  EXPECT_EQ(find_family("no such thing"), nullptr);
  EXPECT_EQ(find_hub_family("no such thing"), nullptr);
}

}  // namespace
}  // namespace infer::models
