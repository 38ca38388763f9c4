// Tests of: The expressions and which names use them.
#include "engine/tokenize/splitting_rules.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "engine/tokenize/text_pipeline.h"

namespace infer::tokenize {
namespace {

using pieces = std::vector<std::string>;

pieces split(std::string_view rule, std::string_view text) {
  std::vector<text_step> steps;
  for (const std::string_view expression : find_splitting_rule(rule).value()->expressions)
    steps.push_back({.pattern = std::string(expression)});
  piece_list list(text);
  text_pipeline::make(steps).value().run(list, true);
  pieces found;
  for (std::size_t i = 0; i < list.size(); ++i) found.emplace_back(list[i]);
  return found;
}

TEST(splitting_rules, gpt2_splits_contractions_words_numbers_and_spaces) {
  EXPECT_EQ(split("gpt-2", "I'll go  to 1234, ok!"), (pieces{"I", "'ll", " go", " ", " to", " 1234", ",", " ok", "!"}));
  EXPECT_EQ(split("gpt-2", "a \n\n b  "), (pieces{"a", " \n\n", " b", "  "}));
}

TEST(splitting_rules, smollm_takes_every_number_alone_first) {
  EXPECT_EQ(split("smollm", "a  12b"), (pieces{"a", "  ", "1", "2", "b"}));  // the spaces do not see the digit
  EXPECT_EQ(split("smollm", "x٣½Ⅷ"), (pieces{"x", "٣", "½", "Ⅷ"}));
}

TEST(splitting_rules, llama3_groups_three_digits_and_keeps_newlines_with_punctuation) {
  EXPECT_EQ(split("llama-bpe", "WE'LL 12345 (x).\n\n y"),
            (pieces{"WE", "'LL", " ", "123", "45", " (", "x", ").\n\n", " y"}));
  EXPECT_EQ(split("qwen2", "a12"), (pieces{"a", "1", "2"}));
  EXPECT_TRUE(find_splitting_rule("llama-bpe").value()->ignores_merges);
  EXPECT_TRUE(find_splitting_rule("llama-bpe").value()->adds_bos);
  EXPECT_FALSE(find_splitting_rule("smollm").value()->adds_bos);
}

TEST(splitting_rules, the_mongolian_vowel_separator_is_no_space) {
  EXPECT_EQ(split("gpt-2", "\u180e!"), (pieces{"\u180e!"}));
  EXPECT_EQ(split("gpt-2", "\u3000!"), (pieces{"\u3000", "!"}));
}

TEST(splitting_rules, others_cut_as_their_makers_say) {
  EXPECT_EQ(split("tekken", "HelloWORLDs it's 12"), (pieces{"Hello", "WORLDs", " it", "'s", " ", "1", "2"}));
  EXPECT_EQ(split("gpt-4o", "HelloWORLD it's /\n"), (pieces{"Hello", "WORLD", " it's", " /\n"}));
  EXPECT_EQ(split("deepseek-v3", "a1234 中文b.x"), (pieces{"a", "123", "4", " ", "中文", "b", ".x"}));
  EXPECT_EQ(split("deepseek-llm", "The one.\n x"), (pieces{"The", " one", ".", "\n", " x"}));
  EXPECT_EQ(split("kimi-k2", "ab中文Cd1234"), (pieces{"ab", "中文", "Cd", "123", "4"}));
  EXPECT_EQ(split("tiny_aya", "1234567 a"), (pieces{"1", "234", "567", " a"}));
  EXPECT_EQ(split("minicpm5", "1234a"), (pieces{"123", "4", "a"}));
  EXPECT_EQ(split("laguna", "a\n\nb"), (pieces{"a", "\n\n", "b"}));
  EXPECT_EQ(split("default", "x=12345"), (pieces{"x", "=", "123", "45"}));
}

TEST(splitting_rules, each_name_stands_once) {
  std::set<std::string_view> names;
  for (const splitting_rule& rule : splitting_rules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
  EXPECT_GE(names.size(), 45u);
}

TEST(splitting_rules, loses_no_byte_and_is_linear_on_long_runs_of_one_character) {
  std::set<std::vector<std::string_view>> seen;
  for (const splitting_rule& rule : splitting_rules()) {
    if (!seen.insert(rule.expressions).second) continue;
    for (const char* unit : {"a", " ", "\n", "1", "!", "'", "\u00e9", "\u3000", " \n", "\u0301", "\u4e2d"}) {
      // This rule counts the digits behind each three of them.
      if (std::string_view(unit) == "1" && rule.expressions.front().starts_with("\\d{1,3}(?=")) continue;
      std::string text;
      while (text.size() < 200'000) text += unit;
      text += "x";
      std::size_t total = 0;
      for (const std::string_view piece : split(rule.name, text)) total += piece.size();
      EXPECT_EQ(total, text.size()) << rule.name;
    }
  }
}

TEST(splitting_rules, an_unknown_rule_is_named) {
  const auto made = find_splitting_rule("no-such-rule");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, fault::unknown_pre_tokenizer);
  EXPECT_NE(made.error().message().find("no-such-rule"), std::string::npos);
}

}  // namespace
}  // namespace infer::tokenize
