// Tokenizers from both kinds of model file.
#include "engine/tokenize/model_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/formats/gguf.h"
#include "engine/formats/hub_folder.h"
#include "tests/support/hub_writer.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace infer::tokenize {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class hub_tokenizer : public testing::Test {
 protected:
  hub_tokenizer() {
    test_support::write_text(folder_ / "config.json", "{}");
    test_support::write_text(folder_ / "model.safetensors", test_support::safetensors_bytes({}));
  }
  result<std::shared_ptr<const tokenizer>> made(std::optional<std::size_t> rows = {}) const {
    INFER_TRY(const auto file, formats::open_model(folder_.path()));
    return make_tokenizer(*file, rows);
  }

  test_support::temporary_folder folder_;
};

TEST_F(hub_tokenizer, comes_from_tokenizer_json_and_its_neighbours) {
  test_support::write_text(folder_ / "tokenizer.json", R"({"version": "1.0", "normalizer": null,
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
      "post_processor": null, "decoder": {"type": "ByteLevel"},
      "added_tokens": [{"id": 3, "content": "<|end|>", "special": true, "single_word": false, "lstrip": false,
                        "rstrip": false, "normalized": false}],
      "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<|end|>": 3}, "merges": ["a b"]}})");
  test_support::write_text(folder_ / "generation_config.json", R"({"eos_token_id": [3]})");
  const auto t = made();
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_THAT(t.value()->encode("aab<|end|>", true), ElementsAre(0, 2, 3));
  EXPECT_TRUE(t.value()->is_end_of_generation(3));
}

TEST_F(hub_tokenizer, added_tokens_that_the_embedding_has_no_row_for_are_plain_text) {
  test_support::write_text(folder_ / "tokenizer.json", R"({"version": "1.0", "normalizer": null,
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
      "post_processor": null, "decoder": {"type": "ByteLevel"},
      "added_tokens": [{"id": 2, "content": "<b>", "special": true}, {"id": 6, "content": "<a>", "special": true}],
      "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "<": 3, ">": 4}, "merges": []}})");
  test_support::write_text(folder_ / "generation_config.json", R"({"eos_token_id": [2, 6]})");
  const auto all = made();
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_THAT(all.value()->encode("<b><a>", true), ElementsAre(2, 6));
  EXPECT_THAT(all.value()->end_tokens(), ElementsAre(2, 6));
  const auto cut = made(6);
  ASSERT_TRUE(cut) << cut.error().message();
  EXPECT_THAT(cut.value()->encode("<b><a>", true), ElementsAre(2, 3, 0, 4));
  EXPECT_THAT(cut.value()->end_tokens(), ElementsAre(2));
  EXPECT_LE(cut.value()->size(), 6u);
}

TEST_F(hub_tokenizer, its_own_entries_without_a_row_stay_and_added_texts_among_them_are_ordinary) {
  test_support::write_text(folder_ / "tokenizer.json", R"({"version": "1.0", "normalizer": null,
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
      "post_processor": null, "decoder": {"type": "ByteLevel"},
      "added_tokens": [{"id": 3, "content": "ab", "special": true}],
      "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3}, "merges": ["a b"]}})");
  const auto t = made(2);
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_THAT(t.value()->encode("aabc", true), ElementsAre(0, 3, 2));
  EXPECT_FALSE(t.value()->is_control(3));
}

TEST_F(hub_tokenizer, without_a_generation_config_the_configuration_names_the_ends) {
  test_support::write_text(folder_ / "tokenizer.json", R"({"normalizer": null,
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}, "post_processor": null,
      "decoder": {"type": "ByteLevel"}, "added_tokens": [],
      "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2}, "merges": []}})");
  const auto ends = [&](const char* config) {
    test_support::write_text(folder_ / "config.json", config);
    const auto t = made();
    const auto span = t.value()->end_tokens();
    return std::pair(std::vector<token_id>(span.begin(), span.end()), t.value()->eos());
  };
  using ids = std::vector<token_id>;
  EXPECT_EQ(ends(R"({"eos_token_id": 2})"), std::pair(ids{2}, std::optional<token_id>(2)));
  EXPECT_EQ(ends(R"({"eos_token_id": [1, 2, 99, -1]})"), std::pair((ids{1, 2}), std::optional<token_id>(1)));
  EXPECT_EQ(ends(R"({"eos_token_id": null})"), std::pair(ids{}, std::optional<token_id>()));
  EXPECT_EQ(ends(R"({"text_config": {"eos_token_id": 1}})"), std::pair(ids{1}, std::optional<token_id>(1)));
  test_support::write_text(folder_ / "generation_config.json", R"({"eos_token_id": 0})");
  EXPECT_EQ(ends(R"({"eos_token_id": 2})"), std::pair(ids{0}, std::optional<token_id>(0)));
}

TEST_F(hub_tokenizer, a_folder_without_tokenizer_json_is_refused) {
  const auto t = made();
  ASSERT_FALSE(t);
  EXPECT_THAT(t.error().message(), HasSubstr("has no tokenizer.json"));
}

TEST(model_tokenizer, of_a_gguf_file_comes_from_its_keys) {
  const auto bytes = test_support::tiny_llama_writer({}).build();
  const auto file = formats::gguf_file::from_memory(bytes);
  ASSERT_TRUE(file);
  const auto t = make_tokenizer(file.value());
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t.value()->size(), test_support::tiny_vocabulary);
  EXPECT_TRUE(make_tokenizer(file.value(), test_support::tiny_vocabulary));
  const auto other = make_tokenizer(file.value(), test_support::tiny_vocabulary + 1);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message(), HasSubstr("tokens, the embedding"));
}

}  // namespace
}  // namespace infer::tokenize
