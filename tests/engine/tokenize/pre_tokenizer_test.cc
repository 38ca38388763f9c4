// Tests of: The splitting rules, compiled with PCRE2.
#include "engine/tokenize/pre_tokenizer.h"

#include <gtest/gtest.h>

#include <string>

namespace infer::tokenize {
namespace {

using pieces = std::vector<std::string_view>;

pieces split(std::string_view rule, std::string_view text) {
  return pre_tokenizer::make(rule).value().split(text);
}

TEST(pre_tokenizer, gpt2_splits_contractions_words_numbers_and_spaces) {
  EXPECT_EQ(split("gpt-2", "I'll go  to 1234, ok!"), (pieces{"I", "'ll", " go", " ", " to", " 1234", ",", " ok", "!"}));
  EXPECT_EQ(split("gpt-2", "a \n\n b  "), (pieces{"a", " \n\n", " b", "  "}));
}

TEST(pre_tokenizer, smollm_takes_every_number_alone_first) {
  EXPECT_EQ(split("smollm", "a  12b"), (pieces{"a", "  ", "1", "2", "b"}));  // the spaces do not see the digit
  EXPECT_EQ(split("smollm", "x٣½Ⅷ"), (pieces{"x", "٣", "½", "Ⅷ"}));
}

TEST(pre_tokenizer, llama3_groups_three_digits_and_keeps_newlines_with_punctuation) {
  EXPECT_EQ(split("llama-bpe", "WE'LL 12345 (x).\n\n y"),
            (pieces{"WE", "'LL", " ", "123", "45", " (", "x", ").\n\n", " y"}));
  EXPECT_EQ(split("qwen2", "a12"), (pieces{"a", "1", "2"}));
  EXPECT_TRUE(pre_tokenizer::make("llama-bpe").value().ignores_merges());
  EXPECT_TRUE(pre_tokenizer::make("llama-bpe").value().adds_bos());
  EXPECT_FALSE(pre_tokenizer::make("smollm").value().adds_bos());
}

TEST(pre_tokenizer, the_mongolian_vowel_separator_is_no_space) {
  EXPECT_EQ(split("gpt-2", "\u180e!"), (pieces{"\u180e!"}));
  EXPECT_EQ(split("gpt-2", "\u3000!"), (pieces{"\u3000", "!"}));
}

TEST(pre_tokenizer, loses_no_byte_and_is_linear_on_a_megabyte_of_one_character) {
  for (const char* rule : {"gpt-2", "smollm", "llama-bpe", "qwen2", "qwen35"}) {
    for (const char* unit : {"a", " ", "\n", "1", "!", "'", "\u00e9", "\u3000", " \n"}) {
      std::string text;
      while (text.size() < 1'000'000) text += unit;
      text += "x";
      std::size_t total = 0;
      for (const std::string_view piece : split(rule, text)) total += piece.size();
      EXPECT_EQ(total, text.size()) << rule;
    }
  }
}

TEST(pre_tokenizer, an_unknown_rule_is_named) {
  const auto made = pre_tokenizer::make("no-such-rule");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, fault::unknown_pre_tokenizer);
  EXPECT_NE(made.error().message().find("no-such-rule"), std::string::npos);
}

}  // namespace
}  // namespace infer::tokenize
