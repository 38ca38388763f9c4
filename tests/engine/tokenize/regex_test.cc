// Tests of: Searching with PCRE2.
#include "engine/tokenize/regex.h"

#include <gtest/gtest.h>

namespace infer::tokenize {
namespace {

std::vector<byte_range> all(const result<regex>& with, std::string_view text) {
  regex::scratch scratch;
  std::vector<byte_range> matches;
  with.value().find_all(text, scratch, matches);
  return matches;
}

TEST(regex, finds_all_matches_from_left_to_right) {
  EXPECT_EQ(all(regex::make("a+"), "baac a"), (std::vector<byte_range>{{1, 3}, {5, 6}}));
  EXPECT_TRUE(all(regex::make("x"), "baac a").empty());
  EXPECT_TRUE(all(regex::make("x"), "").empty());
}

TEST(regex, an_empty_match_counts_unless_it_touches_another) {
  EXPECT_EQ(all(regex::make("a*"), "baac"), (std::vector<byte_range>{{0, 0}, {1, 3}, {4, 4}}));
  EXPECT_EQ(all(regex::make("(?=é)"), "xéé"), (std::vector<byte_range>{{1, 1}, {3, 3}}));
}

TEST(regex, a_literal_has_no_signs) {
  EXPECT_EQ(all(regex::literal("a.c"), "abc a.c"), (std::vector<byte_range>{{4, 7}}));
}

TEST(regex, what_is_no_expression_is_refused_with_its_text) {
  const auto made = regex::make("(a");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, fault::unsupported);
  EXPECT_NE(made.error().message().find("(a"), std::string::npos);
  EXPECT_FALSE(regex::make("[b-a]"));
  EXPECT_FALSE(regex::make("\\p{sc:Nowhere}"));
}

TEST(regex, what_exceeds_the_jits_stack_still_matches) {
  const std::string text(200'000, 'a');
  EXPECT_EQ(all(regex::make("(?:a|b)*c|(?:a|b)+"), text), (std::vector<byte_range>{{0, text.size()}}));
}

}  // namespace
}  // namespace infer::tokenize
