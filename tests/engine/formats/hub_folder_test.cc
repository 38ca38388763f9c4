// Folders of the hub: whole, sharded, wrapped, and broken in every way that people meet.
// Mirrors: chat_source.cc, model_file.cc
#include "engine/formats/hub_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/formats/chat_source.h"
#include "engine/formats/gguf.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/hub_writer.h"
#include "tests/support/temporary_folder.h"

namespace infer::formats {
namespace {

using test_support::float_bytes;
using test_support::hub_tensor;
using test_support::safetensors_bytes;
using test_support::write_text;
using testing::HasSubstr;

hub_tensor tensor(const std::string& name, float value) {
  return {name, "F32", {1}, float_bytes({value})};
}

class hub_folders : public testing::Test {
 protected:
  void config(const std::string& text) { write_text(folder_ / "config.json", text); }
  void weights(const std::string& name, const std::vector<hub_tensor>& tensors) {
    write_text(folder_ / name, safetensors_bytes(tensors));
  }
  std::string message() const {
    const auto opened = hub_folder::open(folder_.path());
    return opened ? "" : opened.error().message();
  }
  static float value_of(const model_file& file, std::string_view name) {
    const tensor_info* info = file.find(name);
    return info == nullptr ? -1.0f : load_le<float>(file.data(*info).data());
  }

  test_support::temporary_folder folder_;
};

TEST_F(hub_folders, gives_keys_tensors_and_the_files_beside_them) {
  config(R"({"model_type": "llama", "hidden_size": 8})");
  weights("model.safetensors", {tensor("model.embed_tokens.weight", 1), tensor("lm_head.weight", 2)});
  write_text(folder_ / "tokenizer.json", "{}");
  for (const auto& path : {folder_.path(), folder_ / "config.json", folder_ / "model.safetensors"}) {
    const auto opened = open_model(path);
    ASSERT_TRUE(opened) << opened.error().message();
    const model_file& file = *opened.value();
    EXPECT_EQ(file.format(), file_format::hub);
    EXPECT_EQ(file.keys().text("model_type").value(), "llama");
    EXPECT_EQ(value_of(file, "embed_tokens.weight"), 1);
    EXPECT_EQ(value_of(file, "lm_head.weight"), 2);
    EXPECT_EQ(file.find("model.embed_tokens.weight"), nullptr);
    EXPECT_EQ(file.side_file("tokenizer.json"), "{}");
    EXPECT_EQ(file.side_file("generation_config.json"), "");
    EXPECT_EQ(file.parts(), 1u);
  }
}

TEST_F(hub_folders, gathers_the_files_that_an_index_names) {
  config("{}");
  weights("model-00001-of-00002.safetensors", {tensor("model.a", 1)});
  weights("model-00002-of-00002.safetensors", {tensor("model.b", 2), tensor("model.c", 3)});
  write_text(folder_ / "model.safetensors.index.json",
             R"({"weight_map": {"model.a": "model-00001-of-00002.safetensors",
                 "model.b": "model-00002-of-00002.safetensors", "model.c": "model-00002-of-00002.safetensors"}})");
  const auto opened = open_model(folder_ / "model.safetensors.index.json");
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened.value()->parts(), 2u);
  EXPECT_EQ(value_of(*opened.value(), "a"), 1);
  EXPECT_EQ(value_of(*opened.value(), "c"), 3);
  std::filesystem::remove(folder_ / "model-00002-of-00002.safetensors");
  EXPECT_THAT(message(), HasSubstr("model-00002-of-00002.safetensors: this file, which the index names, is missing"));
}

TEST_F(hub_folders, an_index_cannot_name_files_elsewhere) {
  config("{}");
  for (const std::string name : {"../secret", "/etc/passwd", ".hidden", ""}) {
    write_text(folder_ / "model.safetensors.index.json", R"({"weight_map": {"a": ")" + name + "\"}}");
    EXPECT_THAT(message(), HasSubstr("no file beside it")) << name;
  }
}

TEST_F(hub_folders, takes_the_text_model_out_of_its_wrappers) {
  config(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 4}})");
  weights("model.safetensors",
          {tensor("model.language_model.layers.0.x", 1), tensor("language_model.model.norm.weight", 2),
           tensor("language_model.lm_head.weight", 3), tensor("transformer.h.0.y", 4), tensor("vision_tower.z", 5)});
  const auto opened = hub_folder::open(folder_.path());
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened.value().keys().text("model_type").value(), "gemma3_text");
  EXPECT_EQ(value_of(opened.value(), "layers.0.x"), 1);
  EXPECT_EQ(value_of(opened.value(), "norm.weight"), 2);
  EXPECT_EQ(value_of(opened.value(), "lm_head.weight"), 3);
  EXPECT_EQ(value_of(opened.value(), "h.0.y"), 4);
  EXPECT_EQ(value_of(opened.value(), "vision_tower.z"), 5);
}

TEST_F(hub_folders, names_what_is_missing) {
  EXPECT_THAT(message(), HasSubstr("no config.json"));
  config("{}");
  EXPECT_THAT(message(), HasSubstr("neither model.safetensors nor"));
  write_text(folder_ / "pytorch_model.bin", "x");
  EXPECT_THAT(message(), HasSubstr("convert it to safetensors"));
  weights("model.safetensors", {tensor("model.a", 1), tensor("a", 2)});
  EXPECT_THAT(message(), HasSubstr("is there twice"));
}

TEST_F(hub_folders, other_paths_are_gguf_files) {
  const auto missing = open_model(folder_ / "model.gguf");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message(), HasSubstr("cannot be opened"));
}

TEST_F(hub_folders, chat_templates_are_found_where_they_may_be) {
  config("{}");
  weights("model.safetensors", {});
  const auto found = [&] {
    const auto opened = hub_folder::open(folder_.path());
    EXPECT_TRUE(opened) << opened.error().message();
    const auto text = chat_template_of(opened.value());
    return text ? text.value() : text.error().message();
  };
  EXPECT_EQ(found(), "");
  write_text(folder_ / "chat_template.json", R"({"chat_template": "third"})");
  EXPECT_EQ(found(), "third");
  write_text(folder_ / "tokenizer_config.json",
             R"({"chat_template": [{"name": "tool_use", "template": "no"}, {"name": "default", "template": "list"}]})");
  EXPECT_EQ(found(), "list");
  EXPECT_EQ(chat_templates_of(hub_folder::open(folder_.path()).value()).value().tool_use, "no");
  write_text(folder_ / "tokenizer_config.json", R"({"chat_template": "second"})");
  EXPECT_EQ(found(), "second");
  write_text(folder_ / "chat_template.jinja", "first");
  EXPECT_EQ(found(), "first");
  std::filesystem::remove(folder_ / "chat_template.jinja");
  write_text(folder_ / "tokenizer_config.json", "{");
  EXPECT_THAT(found(), HasSubstr("tokenizer_config.json: this is not JSON"));
}

TEST(chat_source, of_a_gguf_file_is_a_key) {
  test_support::gguf_writer with, without;
  with.add_key("tokenizer.chat_template", "text");
  const auto a = with.build(), b = without.build();
  EXPECT_EQ(chat_template_of(gguf_file::from_memory(a).value()).value(), "text");
  EXPECT_EQ(chat_template_of(gguf_file::from_memory(b).value()).value(), "");
  EXPECT_EQ(chat_templates_of(gguf_file::from_memory(a).value()).value().tool_use, "");
  with.add_key("tokenizer.chat_template.tool_use", "with tools");
  const auto c = with.build();
  const auto both = chat_templates_of(gguf_file::from_memory(c).value()).value();
  EXPECT_EQ(both.text, "text");
  EXPECT_EQ(both.tool_use, "with tools");
}

}  // namespace
}  // namespace infer::formats
