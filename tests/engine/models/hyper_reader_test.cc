// Keys of both formats to the same hyperparameters; what contradicts itself is refused by name.
// Mirrors: rope_reader.cc
#include "engine/models/hyper_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/formats/gguf.h"
#include "engine/formats/hub_folder.h"
#include "engine/models/builder.h"
#include "engine/models/rope_reader.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/hub_writer.h"
#include "tests/support/temporary_folder.h"

namespace infer::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A folder with this configuration and an embedding of five tokens.
class folder_with {
 public:
  explicit folder_with(const std::string& config) {
    test_support::write_text(folder_ / "config.json", config);
    test_support::write_text(
        folder_ / "model.safetensors",
        test_support::safetensors_bytes(
            {{"model.embed_tokens.weight", "F32", {5, 2}, test_support::float_bytes(std::vector<float>(10))}}));
    auto opened = formats::hub_folder::open(folder_.path());
    if (!opened) throw std::runtime_error(opened.error().message());
    file_.emplace(std::move(opened.value()));
  }

  const formats::model_file& file() const { return *file_; }
  const family_descriptor& family() const { return *family_of(file()).value(); }
  result<hyper_values> hyper() const { return read_hyper(family(), file(), keys()); }
  key_view keys() const { return key_view(file(), ""); }
  layer_lists lists() const { return read_layer_lists(family(), hyper().value(), keys()).value(); }
  std::string message() const {
    const auto read = hyper();
    if (!read) return read.error().message();
    const auto lists = read_layer_lists(family(), read.value(), keys());
    if (!lists) return lists.error().message();
    const auto activation = read_activation(family(), keys());
    if (!activation) return activation.error().message();
    const auto ropes = read_ropes(family(), read.value(), keys(), {});
    return ropes ? "" : ropes.error().message();
  }
  plan::activation activation() const { return read_activation(family(), keys()).value(); }
  model_ropes ropes() const {
    auto read = read_ropes(family(), hyper().value(), keys(), {});
    if (!read) throw std::runtime_error(read.error().message());
    return std::move(read.value());
  }

 private:
  test_support::temporary_folder folder_;
  std::optional<formats::hub_folder> file_;
};

/// A configuration of a small model of `type`, with `more` members.
std::string config_of(const std::string& type, const std::string& more = "") {
  return R"({"model_type": ")" + type +
         R"(", "hidden_size": 32, "num_hidden_layers": 4, "intermediate_size": 64, "num_attention_heads": 4,
             "num_key_value_heads": 2, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "layer_norm_eps": 1e-5)" +
         (more.empty() ? "" : ", " + more) + "}";
}

TEST(hyper_reader, reads_what_a_configuration_says) {
  const folder_with f(config_of("llama", R"("head_dim": null, "rope_theta": 500000.0, "hidden_act": "silu")"));
  const auto h = f.hyper();
  ASSERT_TRUE(h) << h.error().message();
  EXPECT_EQ(h.value()[hyper::width], 32);
  EXPECT_EQ(h.value()[hyper::head_dim], 8);
  EXPECT_EQ(h.value()[hyper::kv_width], 16);
  EXPECT_EQ(h.value()[hyper::vocabulary], 5);
  EXPECT_EQ(h.value()[hyper::rope_base], 500000);
  EXPECT_EQ(h.value()[hyper::norm_eps], 1e-5);
}

TEST(hyper_reader, the_rows_of_the_embedding_are_known_before_the_model_is_built) {
  EXPECT_EQ(embedding_rows(folder_with(R"({"model_type": "llama"})").file()), 5u);
  EXPECT_EQ(embedding_rows(folder_with(R"({"model_type": "no_such_thing"})").file()), std::nullopt);
}

TEST(hyper_reader, names_keys_as_the_file_does) {
  EXPECT_THAT(folder_with(R"({"model_type": "internlm2"})").message(), HasSubstr("the key hidden_size is missing"));
  EXPECT_THAT(folder_with(config_of("llama", R"("head_dim": 1)")).message(), HasSubstr("the key head_dim is 1"));
}

TEST(hyper_reader, what_a_configuration_does_not_name_is_its_class_value) {
  const auto gemma3 = folder_with(R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560,
      "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}})");
  const auto h = gemma3.hyper();
  ASSERT_TRUE(h) << h.error().message();
  EXPECT_EQ(h.value()[hyper::context], 131072);
  EXPECT_EQ(h.value()[hyper::heads], 8);
  EXPECT_EQ(h.value()[hyper::kv_heads], 4);
  EXPECT_EQ(h.value()[hyper::head_dim], 256);
  EXPECT_EQ(h.value()[hyper::norm_eps], 1e-6);
  EXPECT_EQ(h.value()[hyper::window], 1024);
  EXPECT_EQ(h.value()[hyper::rope_base], 1e6);
  EXPECT_EQ(h.value()[hyper::local_rope_base], 1e4);
  EXPECT_EQ(h.value()[hyper::attention_scale], 1 / 16.0);
  const auto cohere = folder_with(R"({"model_type": "cohere", "rope_theta": 1e6})").hyper();
  ASSERT_TRUE(cohere) << cohere.error().message();
  EXPECT_EQ(cohere.value()[hyper::logit_factor], 0.0625);
  EXPECT_EQ(cohere.value()[hyper::kv_heads], 64);
  EXPECT_EQ(cohere.value()[hyper::rope_base], 1e6);
  EXPECT_EQ(folder_with(R"({"model_type": "qwen3"})").hyper().value()[hyper::head_dim], 128);
  EXPECT_EQ(folder_with(R"({"model_type": "mistral"})").hyper().value()[hyper::window], 4096);
  EXPECT_EQ(folder_with(R"({"model_type": "gpt2"})").hyper().value()[hyper::context], 1024);
}

TEST(hyper_reader, a_value_of_none_is_no_class_value) {
  const auto at = [](const std::string& type, const std::string& more, hyper field) {
    return folder_with(config_of(type, more)).hyper().value()[field];
  };
  EXPECT_EQ(at("gemma2", "", hyper::attention_softcap), 50);
  EXPECT_EQ(at("gemma2", R"("attn_logit_softcapping": null)", hyper::attention_softcap), 0);
  EXPECT_EQ(at("gemma2", R"("final_logit_softcapping": null)", hyper::final_softcap), 0);
  EXPECT_EQ(at("gemma3_text", "", hyper::final_softcap), 0);
  EXPECT_EQ(at("gemma3_text", R"("final_logit_softcapping": 30.0)", hyper::final_softcap), 30);
  EXPECT_EQ(at("cohere2", "", hyper::window), 4096);
  EXPECT_EQ(at("cohere2", R"("sliding_window": null)", hyper::window), 0);
  EXPECT_EQ(at("mistral", R"("num_key_value_heads": null)", hyper::kv_heads), 4);
  EXPECT_EQ(at("qwen3", R"("head_dim": null)", hyper::head_dim), 8);
}

TEST(hyper_reader, turns_the_values_that_mean_another_thing) {
  EXPECT_DOUBLE_EQ(
      folder_with(config_of("gemma2", R"("query_pre_attn_scalar": 64)")).hyper().value()[hyper::attention_scale],
      0.125);
  EXPECT_DOUBLE_EQ(folder_with(config_of("granite", R"("logits_scaling": 8)")).hyper().value()[hyper::logit_factor],
                   0.125);
  EXPECT_DOUBLE_EQ(folder_with(config_of("cohere", R"("logit_scale": 0.25)")).hyper().value()[hyper::logit_factor],
                   0.25);
  EXPECT_EQ(folder_with(config_of("phi3", R"("partial_rotary_factor": 0.75)")).hyper().value()[hyper::rope_dims], 6);
}

TEST(hyper_reader, refuses_what_would_be_another_model) {
  EXPECT_THAT(folder_with(config_of("llama", R"("hidden_act": "relu")")).message(),
              HasSubstr("hidden_act is \"relu\""));
  EXPECT_THAT(folder_with(config_of("llama", R"("quantization_config": {"quant_method": "gptq"})")).message(),
              HasSubstr("quantized by \"gptq\""));
  EXPECT_THAT(folder_with(config_of("mistral", R"("layer_types": ["full_attention"])")).message(),
              HasSubstr("1 entries for 4 layers"));
  EXPECT_THAT(folder_with(config_of("mistral", R"("layer_types": ["a", "a", "a", "conv"])")).message(),
              HasSubstr("\"a\""));
  const folder_with unknown(config_of("no_such_thing"));
  EXPECT_THAT(family_of(unknown.file()).error().message(), HasSubstr("'no_such_thing'"));
}

TEST(hyper_reader, refuses_sizes_that_nothing_computes) {
  for (const std::string part : {"1e-30", "0.1", "1.5", "268435456", "1e300"})
    EXPECT_THAT(folder_with(config_of("llama", R"("partial_rotary_factor": )" + part)).message(),
                HasSubstr("partial_rotary_factor is"))
        << part;
  EXPECT_EQ(folder_with(config_of("llama", R"("partial_rotary_factor": 0.5)")).message(), "");
  std::string thin = config_of("llama");
  thin.replace(thin.find(": 64"), 4, ": 1");
  EXPECT_THAT(folder_with(thin).message(), HasSubstr("feed_forward_length of two at least"));
}

TEST(hyper_reader, a_tensor_without_values_is_refused) {
  const test_support::temporary_folder folder;
  test_support::write_text(folder / "config.json", config_of("llama"));
  test_support::write_text(folder / "model.safetensors",
                           test_support::safetensors_bytes({{"model.embed_tokens.weight", "F32", {0, 32}, {}}}));
  auto file = formats::hub_folder::open(folder.path());
  ASSERT_TRUE(file) << file.error().message();
  const auto built = build(std::make_shared<const formats::hub_folder>(std::move(file.value())));
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().message(), HasSubstr("embed_tokens.weight holds no values"));
}

TEST(hyper_reader, refuses_activations_and_flags_that_it_does_not_compute) {
  const auto with = [](const std::string& type, const std::string& more) {
    return folder_with(config_of(type, more)).message();
  };
  for (const std::string name : {"relu", "quick_gelu", "gelu_10", "relu2"}) {
    EXPECT_THAT(with("gpt2", R"("activation_function": ")" + name + "\""),
                HasSubstr("activation_function is \"" + name));
    EXPECT_THAT(with("starcoder2", R"("hidden_act": ")" + name + "\""), HasSubstr("hidden_act is \"" + name));
  }
  for (const char* type : {"llama", "qwen3", "phi3", "cohere2", "glm4"})
    EXPECT_THAT(with(type, R"("hidden_act": "relu")"), HasSubstr("hidden_act is \"relu\""));
  for (const char* type : {"gemma2", "gemma3_text"})
    EXPECT_THAT(with(type, R"("hidden_activation": "mish")"), HasSubstr("hidden_activation is \"mish\""));
  EXPECT_THAT(with("gpt2", R"("scale_attn_weights": false)"), HasSubstr("scale_attn_weights is false"));
  EXPECT_THAT(with("gemma3_text", R"("use_bidirectional_attention": true)"),
              HasSubstr("use_bidirectional_attention is true"));
}

TEST(hyper_reader, a_configuration_chooses_its_activation) {
  const auto with = [](const std::string& type, const std::string& more) {
    return folder_with(config_of(type, more)).activation();
  };
  EXPECT_EQ(with("gpt2", R"("activation_function": "gelu")"), plan::activation::gelu_erf);
  EXPECT_EQ(with("gpt2", R"("activation_function": "swish")"), plan::activation::silu);
  EXPECT_EQ(with("gpt2", R"("n_inner": null)"), plan::activation::gelu_tanh);
  EXPECT_EQ(with("starcoder2", R"("hidden_act": "gelu")"), plan::activation::gelu_erf);
  EXPECT_EQ(with("llama", R"("hidden_act": "gelu")"), plan::activation::gelu_erf);
  EXPECT_EQ(with("llama", R"("hidden_act": "gelu_new")"), plan::activation::gelu_tanh);
  EXPECT_EQ(with("gemma2", R"("hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh")"),
            plan::activation::gelu_tanh);
  EXPECT_EQ(with("gemma", R"("hidden_act": "gelu")"), plan::activation::gelu_tanh)
      << "the first configurations say gelu and mean the tanh form";
}

TEST(hyper_reader, reads_whether_the_scale_of_attention_falls) {
  const auto with = [](const std::string& more) {
    return folder_with(config_of("gpt2", more)).hyper().value()[hyper::attention_falls];
  };
  EXPECT_EQ(with(R"("scale_attn_by_inverse_layer_idx": true)"), 1);
  EXPECT_EQ(with(R"("scale_attn_by_inverse_layer_idx": false)"), 0);
  EXPECT_EQ(with(R"("scale_attn_weights": true)"), 0);
}

TEST(layer_lists, windows_are_used_only_where_the_file_says_so) {
  EXPECT_THAT(folder_with(config_of("qwen2", R"("sliding_window": 8, "use_sliding_window": false)")).lists().windowed,
              ElementsAre(false, false, false, false));
  EXPECT_THAT(
      folder_with(config_of("qwen2", R"("sliding_window": 8, "use_sliding_window": true, "max_window_layers": 3)"))
          .lists()
          .windowed,
      ElementsAre(false, false, false, true));
  EXPECT_THAT(folder_with(config_of("mistral", R"("sliding_window": 8)")).lists().windowed,
              ElementsAre(true, true, true, true));
  EXPECT_THAT(folder_with(config_of("mistral", R"("sliding_window": null)")).lists().windowed,
              ElementsAre(false, false, false, false));
  EXPECT_THAT(folder_with(config_of("mistral")).lists().windowed, ElementsAre(true, true, true, true));
  EXPECT_THAT(folder_with(config_of("qwen3", R"("sliding_window": 8)")).lists().windowed,
              ElementsAre(false, false, false, false));
}

TEST(layer_lists, which_layers_turn) {
  EXPECT_THAT(folder_with(config_of("smollm3")).lists().turned, ElementsAre(true, true, true, false));
  EXPECT_THAT(folder_with(config_of("smollm3", R"("no_rope_layers": [0, 1, 1, 0])")).lists().turned,
              ElementsAre(false, true, true, false));
  const folder_with cohere2(config_of("cohere2", R"("sliding_window": 8, "layer_types": ["full_attention",
                                      "sliding_attention", "sliding_attention", "full_attention"])"));
  EXPECT_THAT(cohere2.lists().turned, ElementsAre(false, true, true, false));
}

TEST(layer_lists, smollm3_has_its_window_where_it_turns_nothing) {
  const folder_with f(config_of("smollm3", R"("use_sliding_window": true, "sliding_window": 8)"));
  EXPECT_THAT(f.lists().turned, ElementsAre(true, true, true, false));
  EXPECT_THAT(f.lists().windowed, ElementsAre(false, false, false, true));
}

TEST(layer_lists, a_gguf_file_may_list_its_windows) {
  test_support::gguf_writer w;
  w.add_key("general.architecture", "olmo2");
  for (const auto& [key, value] : {std::pair{"olmo2.embedding_length", 32u},
                                   {"olmo2.block_count", 3u},
                                   {"olmo2.feed_forward_length", 64u},
                                   {"olmo2.context_length", 64u},
                                   {"olmo2.attention.head_count", 4u},
                                   {"olmo2.attention.sliding_window", 8u}})
    w.add_key(key, value);
  w.add_key("olmo2.attention.layer_norm_rms_epsilon", 1e-5f);
  w.add_key("olmo2.attention.sliding_window_pattern", std::vector<bool>{false, true, true});
  const auto bytes = w.build();
  const auto file = formats::gguf_file::from_memory(bytes);
  ASSERT_TRUE(file) << file.error().message();
  const key_view keys(file.value(), "olmo2");
  const family_descriptor& family = *family_of(file.value()).value();
  const auto h = read_hyper(family, file.value(), keys);
  ASSERT_TRUE(h) << h.error().message();
  EXPECT_THAT(read_layer_lists(family, h.value(), keys).value().windowed, ElementsAre(false, true, true));
}

TEST(ropes, both_spellings_give_the_same_frequencies) {
  const std::string now = R"("rope_parameters": {"rope_type": "linear", "rope_theta": 20000.0, "factor": 4.0})";
  const std::string before = R"("rope_theta": 20000.0, "rope_scaling": {"type": "linear", "factor": 4.0})";
  const auto a = folder_with(config_of("llama", now)).ropes(), b = folder_with(config_of("llama", before)).ropes();
  EXPECT_EQ(a.global.inverse, b.global.inverse);
  EXPECT_FLOAT_EQ(a.global.inverse[1], static_cast<float>(std::pow(20000.0, -0.25) / 4));
}

TEST(ropes, llama3_divides_slow_turns_alone) {
  const auto r = folder_with(config_of("llama", R"("rope_parameters": {"rope_type": "llama3", "rope_theta": 10000.0,
      "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32})"))
                     .ropes();
  ASSERT_EQ(r.global.inverse.size(), 4u);
  EXPECT_EQ(r.global.inverse[0], 1.0f);  // a turn takes 6.3 positions, less than 32 / 4
  EXPECT_FLOAT_EQ(r.global.inverse[3], static_cast<float>(std::pow(1e4, -0.75) / 8));
}

TEST(ropes, yarn_interpolates_between_its_bounds_and_has_a_magnitude) {
  const auto r = folder_with(config_of("llama", R"("rope_parameters": {"rope_type": "yarn", "rope_theta": 10000.0,
      "factor": 4.0, "original_max_position_embeddings": 64})"))
                     .ropes();
  EXPECT_FLOAT_EQ(r.global.magnitude, static_cast<float>(0.1 * std::log(4.0) + 1));
  EXPECT_EQ(r.global.inverse[0], 1.0f);
  EXPECT_FLOAT_EQ(r.global.inverse[3], static_cast<float>(std::pow(1e4, -0.75) / 4));
}

TEST(ropes, a_factor_of_one_is_one) {
  const auto with = [](const std::string& more) {
    return folder_with(config_of("llama", R"("rope_parameters": {"rope_type": "yarn", "rope_theta": 10000.0, )"
                                          R"("original_max_position_embeddings": 32)" +
                                              more + "}"))
        .ropes()
        .global.magnitude;
  };
  EXPECT_EQ(with(R"(, "factor": 1.0)"), 1.0f);
  EXPECT_GT(with(""), 1.2f) << "without one it is that of the contexts";
}

TEST(ropes, scaling_is_for_windowed_layers_too_but_where_they_turn_by_themselves) {
  const std::string linear = R"("sliding_window": 8, "rope_scaling": {"rope_type": "linear", "factor": 4.0})";
  for (const char* type : {"mistral", "cohere2", "exaone4", "gemma2"})
    EXPECT_EQ(folder_with(config_of(type, linear)).ropes().local.inverse[0], 0.25f) << type;
  for (const char* type : {"gemma3_text", "olmo3"}) {
    const auto r = folder_with(config_of(type, linear)).ropes();
    EXPECT_EQ(r.global.inverse[0], 0.25f) << type;
    EXPECT_EQ(r.local.inverse[0], 1.0f) << type;
  }
}

TEST(ropes, without_the_context_before_scaling_it_is_the_models_own) {
  const auto trained = [](const std::string& type, const std::string& more) {
    return folder_with(config_of(type, more)).ropes().trained_context;
  };
  for (const char* kind : {"yarn", "llama3"})
    EXPECT_EQ(trained("llama", R"("rope_scaling": {"rope_type": ")" + std::string(kind) + R"(", "factor": 4.0})"), 256);
  EXPECT_EQ(trained("llama", R"("rope_scaling": {"rope_type": "linear", "factor": 4.0})"), 0);
  const std::string lists = R"("rope_scaling": {"type": "longrope", "short_factor": [1, 1, 1, 1.5],
                               "long_factor": [1, 2, 3, 4.5])";
  EXPECT_EQ(trained("llama", lists + "}"), 256);
  EXPECT_EQ(trained("phi3", lists + "}"), 4096);
  EXPECT_EQ(trained("phi3", lists + R"(}, "original_max_position_embeddings": 64)"), 64);
}

TEST(ropes, dynamic_scaling_is_none_within_the_context) {
  const auto r = folder_with(config_of("internlm3", R"("rope_theta": 10000.0, "rope_scaling": {"rope_type": "dynamic",
      "factor": 6.0})"))
                     .ropes();
  EXPECT_EQ(r.global.inverse[0], 1.0f);
  EXPECT_FLOAT_EQ(r.global.inverse[1], 0.1f);
  EXPECT_EQ(r.most_positions, 256u);
  EXPECT_EQ(folder_with(config_of("internlm3")).ropes().most_positions, 0u);
}

TEST(ropes, what_makes_no_frequencies_is_refused) {
  EXPECT_THAT(folder_with(config_of("llama", R"("rope_scaling": {"rope_type": "spiral"})")).message(),
              HasSubstr("\"spiral\""));
  EXPECT_THAT(folder_with(config_of("llama", R"("rope_scaling": {"rope_type": "linear", "factor": 0})")).message(),
              HasSubstr("not a positive number"));
  EXPECT_THAT(folder_with(config_of("phi3", R"("rope_scaling": {"type": "longrope", "long_factor": [1.0],
      "short_factor": [1.0]}, "original_max_position_embeddings": 64)"))
                  .message(),
              HasSubstr("1 short and 1 long factors for 4 pairs"));
}

}  // namespace
}  // namespace infer::models
