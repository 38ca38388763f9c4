// Tests of: The lexer: text until the next tag, then the tag's tokens, then text again.
#include "engine/templates/lexer.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

std::string shown(std::string_view source) {
  const auto tokens = lex(source);
  if (!tokens) return tokens.error().message();
  std::string text;
  for (const token& one : tokens.value()) {
    if (one.kind == token_kind::data) text += "[" + one.text + "]";
    if (one.kind == token_kind::name || one.kind == token_kind::op || one.kind == token_kind::integer)
      text += one.text + " ";
    if (one.kind == token_kind::string) text += "'" + one.text + "' ";
  }
  return text;
}

TEST(template_lexer, splits_tags) {
  EXPECT_EQ(shown("a{{ b['}}'] }}c"), "[a]b [ '}}' ] [c]");
  EXPECT_EQ(shown("{{ 1//2**3!=4 }}"), "1 // 2 ** 3 != 4 ");
}

TEST(template_lexer, trims_and_strips_around_blocks) {
  EXPECT_EQ(shown("x\n  {% a %}\n y"), "[x\n]a [ y]");
  EXPECT_EQ(shown("x\n  {%+ a +%}\n y"), "[x\n  ]a [\n y]");
  EXPECT_EQ(shown("x \n {%- a -%} \n y"), "[x]a [y]");
  EXPECT_EQ(shown("x\n  {{ a }}\n y\n"), "[x\n  ]a [\n y]");
  EXPECT_EQ(shown("{# c #}\nx"), "[x]");
  EXPECT_EQ(shown("a\r\nb\r"), "[a\nb]");
}

TEST(template_lexer, raw_blocks_are_data) {
  EXPECT_EQ(shown("{% raw %}{{ a }}{% b %}{% endraw %}\nc"), "[{{ a }}{% b %}][c]");
}

TEST(template_lexer, counts_lines_in_errors) {
  EXPECT_EQ(shown("a\n\n{{ ? }}"), "line 3: unexpected character '?'");
  EXPECT_EQ(shown("{{ (] }}"), "line 1: unexpected ']', expected ')'");
  EXPECT_EQ(shown("{{ 99999999999999999999 }}"), "line 1: the number 99999999999999999999 cannot be read");
}

}  // namespace
}  // namespace infer::templates
