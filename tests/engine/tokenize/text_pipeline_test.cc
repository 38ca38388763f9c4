// Tests of: Cutting steps make new ranges over the same text; changing steps write a new text.
#include "engine/tokenize/text_pipeline.h"

#include <gtest/gtest.h>

namespace infer::tokenize {
namespace {

using kind = text_step::kind;
using pieces = std::vector<std::string>;

pieces run(const std::vector<text_step>& steps, std::string_view text, bool at_start = true) {
  const auto made = text_pipeline::make(steps);
  EXPECT_TRUE(made) << (made ? "" : made.error().message());
  piece_list list(text);
  made.value().run(list, at_start);
  pieces found;
  for (std::size_t i = 0; i < list.size(); ++i) found.emplace_back(list[i]);
  return found;
}

text_step cut(std::string pattern, split_behavior behavior, bool invert = false) {
  return {.what = kind::split, .pattern = std::move(pattern), .invert = invert, .behavior = behavior};
}

TEST(text_pipeline, the_five_behaviors) {
  const std::string_view text = "the-final--countdown";
  EXPECT_EQ(run({cut("-", split_behavior::removed)}, text), (pieces{"the", "final", "countdown"}));
  EXPECT_EQ(run({cut("-", split_behavior::isolated)}, text), (pieces{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(run({cut("-", split_behavior::merged_with_previous)}, text), (pieces{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(run({cut("-", split_behavior::merged_with_next)}, text), (pieces{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(run({cut("-", split_behavior::contiguous)}, text), (pieces{"the", "-", "final", "--", "countdown"}));
}

TEST(text_pipeline, inverted_matches_are_what_lies_between) {
  EXPECT_EQ(run({cut("[a-z]+", split_behavior::removed, true)}, "ab 12 cd!"), (pieces{"ab", "cd"}));
  EXPECT_EQ(run({cut("[a-z]", split_behavior::merged_with_previous, true)}, "ab12"), (pieces{"a", "b12"}));
}

TEST(text_pipeline, stages_cut_inside_the_pieces_before) {
  EXPECT_EQ(run({cut("[0-9]", split_behavior::isolated), cut(" ?[a-z]+", split_behavior::isolated)}, "a1 bc"),
            (pieces{"a", "1", " bc"}));
}

TEST(text_pipeline, changes_text) {
  EXPECT_EQ(run({{.what = kind::replace, .pattern = "a+", .content = "X"}}, "baac"), pieces{"bXc"});
  EXPECT_EQ(run({{.what = kind::replace, .pattern = ".", .content = "", .literal = true}}, "a.b."), pieces{"ab"});
  EXPECT_EQ(run({{.what = kind::strip_left}, {.what = kind::strip_right}}, " \u3000a b\n"), pieces{"a b"});
  EXPECT_EQ(run({{.what = kind::lowercase}}, "ÄBİ"), pieces{"äbi\u0307"});
  EXPECT_EQ(run({{.what = kind::nfd}, {.what = kind::strip_accents}}, "é"), pieces{"e"});
  EXPECT_EQ(run({{.what = kind::nfc}}, "e\u0301"), pieces{"é"});
  EXPECT_EQ(run({{.what = kind::nfkc}}, "ﬁ①"), pieces{"fi1"});
  EXPECT_EQ(run({{.what = kind::letters}}, " é"), pieces{"ĠÃ©"});
  EXPECT_TRUE(run({{.what = kind::strip_left}}, "   ").empty());
}

TEST(text_pipeline, prepends_everywhere_or_at_the_start) {
  const text_step always{.what = kind::prepend, .content = "_"};
  text_step start = always, missing = always;
  start.where = text_step::at::start;
  missing.unless_there = true;
  const text_step words = cut(" ", split_behavior::removed);
  EXPECT_EQ(run({words, always}, "a b"), (pieces{"_a", "_b"}));
  EXPECT_EQ(run({words, start}, "a b"), (pieces{"_a", "b"}));
  EXPECT_EQ(run({words, start}, "a b", false), (pieces{"a", "b"}));
  EXPECT_EQ(run({words, missing}, "_a b"), (pieces{"_a", "_b"}));
  EXPECT_TRUE(run({always}, "").empty());
}

TEST(text_pipeline, steps_that_multiply_a_text_end_somewhere) {
  std::vector<text_step> steps;
  for (int i = 0; i < 12; ++i) {
    steps.push_back({.what = kind::replace, .pattern = "a", .content = std::string(30, 'a')});
    steps.push_back({.what = kind::replace, .pattern = "a", .content = std::string(30, 'a'), .literal = true});
    steps.push_back({.what = kind::surround, .pattern = "a", .content = std::string(30, 'a')});
  }
  const pieces grown = run(steps, "aaaa");
  ASSERT_EQ(grown.size(), 1u);
  EXPECT_EQ(grown[0].find_first_not_of('a'), std::string::npos);
  EXPECT_GT(grown[0].size(), 30u * 30u * 4u);
  EXPECT_LE(grown[0].size(), 4 + most_growth(4));
  const text_step prefix{.what = kind::prepend, .content = std::string(1000, 'b')};
  const text_step each = cut("a", split_behavior::isolated);
  std::size_t bytes = 0;
  for (const std::string& piece : run({each, prefix, prefix, prefix, prefix}, std::string(500, 'a')))
    bytes += piece.size();
  EXPECT_LE(bytes, 500 + most_growth(500));
}

TEST(text_pipeline, what_is_no_expression_is_refused) {
  EXPECT_EQ(text_pipeline::make(std::vector{cut("(", split_behavior::isolated)}).error().code, fault::unsupported);
  EXPECT_EQ(text_pipeline::make(std::vector<text_step>{{.what = kind::charsmap, .content = "abc"}}).error().code,
            fault::malformed);
}

}  // namespace
}  // namespace infer::tokenize
