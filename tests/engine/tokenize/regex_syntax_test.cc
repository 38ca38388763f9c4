// Tests of: A translator that walks the expression once.
#include "engine/tokenize/regex_syntax.h"

#include <gtest/gtest.h>

#include "engine/tokenize/regex.h"

namespace infer::tokenize {
namespace {

/// The first match of `pattern`, or "-".
std::string first(std::string_view pattern, std::string_view text) {
  const auto made = regex::make(pattern);
  EXPECT_TRUE(made) << (made ? "" : made.error().message());
  regex::scratch scratch;
  std::vector<byte_range> matches;
  if (made) made.value().find_all(text, scratch, matches);
  return matches.empty() ? "-" : std::string(text.substr(matches[0].begin, matches[0].end - matches[0].begin));
}

TEST(regex_syntax, white_space_is_unicodes) {
  EXPECT_EQ(first(R"(\s+)", "a \u2003\u0085b"), " \u2003\u0085");
  EXPECT_EQ(first(R"(\s)", "\u180e"), "-");
  EXPECT_EQ(first(R"([^\s]+)", " a\u180eb c"), "a\u180eb");
  EXPECT_EQ(first(R"([\S]+)", " a\u180eb c"), "a\u180eb");
  EXPECT_EQ(first(R"(\S+)", "\u3000xy\u3000"), "xy");
}

TEST(regex_syntax, word_characters_hold_marks_and_connectors) {
  EXPECT_EQ(first(R"(\w+)", "-e\u0301_\u203fx9-"), "e\u0301_\u203fx9");
  EXPECT_EQ(first(R"(\w+)", "\u00b2\u2074"), "\u00b2");
  EXPECT_EQ(first(R"([\w]+)", "\u00b2a"), "a");
  EXPECT_EQ(first(R"([^\w\s]+)", "ab!? c"), "!?");
  EXPECT_EQ(first(R"([\W]+)", "ab!? c"), "!? ");
  EXPECT_EQ(first(R"(\bc\b)", "ac c"), "c");
  EXPECT_EQ(first(R"(\d+)", "x\u0663\u00bd"), "\u0663");
}

TEST(regex_syntax, sets_hold_sets_and_intersect) {
  EXPECT_EQ(first("[a-c[x-z]]+", "mbxm"), "bx");
  EXPECT_EQ(first("[a-z&&[^b]]+", "bacbd"), "ac");
  EXPECT_EQ(first("[^a-z&&[^b]]+", "acb12d"), "b12");
  EXPECT_EQ(first(R"([\p{L}&&[^\p{Han}]]+)", "中ab中"), "ab");
  EXPECT_EQ(first("[[:alpha:]]+", "1ab1"), "ab");
  EXPECT_EQ(first("[]a]+", "x]a"), "]a");
}

TEST(regex_syntax, a_script_is_no_script_extension) {
  EXPECT_EQ(first(R"(\p{Han})", "\u3001"), "-");  // an ideographic comma is common to many
  EXPECT_EQ(first(R"(\p{Han}+)", "x中文"), "中文");
  EXPECT_EQ(first(R"(\p{^Letter}+)", "ab12"), "12");
  EXPECT_EQ(first(R"(\P{L}+)", "ab12"), "12");
}

TEST(regex_syntax, quantifiers_are_rubys) {
  EXPECT_EQ(first("a{,2}", "aaa"), "aa");
  EXPECT_EQ(first("a{2}+", "aaaaa"), "aaaa");  // repeated, not possessive
  EXPECT_EQ(first("(?:ab){1,2}+c", "ababababc"), "ababababc");
  EXPECT_EQ(first("a?+a", "a"), "-");  // possessive
  EXPECT_EQ(first("a{b", "a{b"), "a{b");
  EXPECT_EQ(first(R"(x\u00e9\x41\x{e9})", "xéAé"), "xéAé");
  EXPECT_EQ(first("(?m:a.b)", "a\nb"), "a\nb");
  EXPECT_EQ(first("a.b", "a\nb"), "-");
  EXPECT_EQ(first("(?i:'LL)", "we'll"), "'ll");
}

TEST(regex_syntax, what_cannot_be_said_is_refused_with_its_part) {
  for (const char* pattern : {R"(\K)", R"(\R)", R"(\p)", R"(\p{L)", "[a", "[[:nothing:]]", "(?~a)", "(", ")", "\\"}) {
    const auto spelled = pcre2_syntax(pattern);
    ASSERT_FALSE(spelled) << pattern;
    EXPECT_EQ(spelled.error().code, fault::unsupported);
  }
}

}  // namespace
}  // namespace infer::tokenize
