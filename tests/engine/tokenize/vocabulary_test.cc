// Tests of: Reads a vocabulary from a model file's metadata.
#include "engine/tokenize/vocabulary.h"

#include <gtest/gtest.h>

namespace infer::tokenize {
namespace {

using strings = std::vector<std::string_view>;
using integers = std::vector<std::int64_t>;

formats::metadata small_table() {
  formats::metadata keys;
  keys.insert("tokenizer.ggml.model", std::string_view("gpt2"));
  keys.insert("tokenizer.ggml.pre", std::string_view("smollm"));
  keys.insert("tokenizer.ggml.tokens", strings{"<e>", "a", "b", "ab"});
  keys.insert("tokenizer.ggml.token_type", integers{3, 1, 1, 1});
  keys.insert("tokenizer.ggml.merges", strings{"a b"});
  keys.insert("tokenizer.ggml.bos_token_id", std::uint64_t{0});
  return keys;
}

TEST(vocabulary, reads_the_keys_of_a_file) {
  auto keys = small_table();
  keys.insert("tokenizer.ggml.eos_token_id", std::uint64_t{0xFFFFFFFF});
  keys.insert("tokenizer.ggml.add_bos_token", false);
  const auto data = read_vocabulary(keys);
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_EQ(data.value().model, "gpt2");
  EXPECT_EQ(data.value().pre, "smollm");
  EXPECT_EQ(data.value().pieces, (strings{"<e>", "a", "b", "ab"}));
  EXPECT_EQ(data.value().types[0], token_type::control);
  EXPECT_EQ(data.value().merges, strings{"a b"});
  EXPECT_EQ(data.value().bos, 0);
  EXPECT_EQ(data.value().eos, std::nullopt);
  EXPECT_EQ(data.value().add_bos, false);
  EXPECT_EQ(data.value().add_eos, std::nullopt);
}

TEST(vocabulary, tokens_for_the_middle_have_two_names) {
  auto keys = small_table();
  keys.insert("tokenizer.ggml.fim_pre_token_id", std::uint64_t{1});
  keys.insert("tokenizer.ggml.prefix_token_id", std::uint64_t{3});
  keys.insert("tokenizer.ggml.suffix_token_id", std::uint64_t{2});
  keys.insert("tokenizer.ggml.fim_sep_token_id", std::uint64_t{0});
  const infill_marks marks = read_vocabulary(keys).value().infill;
  EXPECT_EQ(marks.prefix, 1);
  EXPECT_EQ(marks.suffix, 2);
  EXPECT_EQ(marks.middle, std::nullopt);
  EXPECT_EQ(marks.file, 0);
}

TEST(vocabulary, a_missing_key_is_named) {
  formats::metadata keys;
  const auto none = read_vocabulary(keys);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, formats::fault::missing_key);
  EXPECT_NE(none.error().message().find("tokenizer.ggml.model"), std::string::npos);
  keys.insert("tokenizer.ggml.model", std::string_view("gpt2"));
  EXPECT_NE(read_vocabulary(keys).error().message().find("tokenizer.ggml.tokens"), std::string::npos);
}

TEST(vocabulary, a_wrong_type_is_an_error) {
  auto keys = small_table();
  keys.insert("tokenizer.ggml.scores", std::string_view("no"));
  EXPECT_EQ(read_vocabulary(keys).error().code, formats::fault::wrong_type);
}

TEST(vocabulary, an_impossible_token_type_is_malformed) {
  formats::metadata keys;
  keys.insert("tokenizer.ggml.model", std::string_view("gpt2"));
  keys.insert("tokenizer.ggml.tokens", strings{"a"});
  keys.insert("tokenizer.ggml.token_type", integers{9});
  EXPECT_EQ(read_vocabulary(keys).error().code, fault::malformed);
}

}  // namespace
}  // namespace infer::tokenize
