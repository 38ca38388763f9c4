// Tests of: Expressions in the order of their precedence: conditional, or, and, not, comparison, sum, concatenation,
// product,
#include "engine/templates/expression_parser.h"

#include <gtest/gtest.h>

#include "engine/templates/lexer.h"

namespace infer::templates {
namespace {

// Expressions with all their parentheses.
std::string shown(const expression* what) {
  if (what == nullptr) return "-";
  std::string inside;
  for (const auto& child : what->children) inside += " " + shown(child.get());
  switch (what->kind) {
    case expr_kind::constant:
      return "c";
    case expr_kind::name:
      return what->name;
    case expr_kind::binary:
      return "(" + what->name + inside + ")";
    case expr_kind::compare:
      return "(" + what->ops[0] + inside + ")";
    case expr_kind::negate:
      return "(neg" + inside + ")";
    case expr_kind::logical_not:
      return "(not" + inside + ")";
    case expr_kind::logical_and:
      return "(and" + inside + ")";
    case expr_kind::logical_or:
      return "(or" + inside + ")";
    case expr_kind::conditional:
      return "(if" + inside + ")";
    case expr_kind::filter:
      return "(|" + what->name + inside + ")";
    default:
      return "(?" + inside + ")";
  }
}

std::string parsed(const std::string& source) {
  const auto tokens = lex("{{ " + source + " }}").value();
  expression_parser parser(tokens);
  parser.next();
  const auto made = parser.parse();
  return made ? shown(made.value().get()) : made.error().message();
}

TEST(expression_parser, follows_precedence) {
  EXPECT_EQ(parsed("a + b * d ** e"), "(+ a (* b (** d e)))");
  EXPECT_EQ(parsed("a - b - d"), "(- (- a b) d)");
  EXPECT_EQ(parsed("not a == b and d or e"), "(or (and (not (== a b)) d) e)");
  EXPECT_EQ(parsed("a if b else d if e else f"), "(if b a (if e d f))");
  EXPECT_EQ(parsed("-a|abs"), "(|abs (neg a))");
  EXPECT_EQ(parsed("a + b|upper"), "(+ a (|upper b))");
  EXPECT_EQ(parsed("a not in b"), "(not in a b)");
}

TEST(expression_parser, bounds_depth_and_length) {
  const auto fails = [](const std::string& source) { return parsed(source).find("line 1: ") == 0; };
  EXPECT_TRUE(fails(std::string(5000, '(') + "a" + std::string(5000, ')')));
  EXPECT_TRUE(fails(std::string(5000, '[') + std::string(5000, ']')));
  std::string sum = "a", nots, dots = "a", ifs = "a";
  for (int i = 0; i < 5000; ++i) {
    sum += "+a";
    nots += "not ";
    dots += ".a";
    ifs += " if a";
  }
  EXPECT_TRUE(fails(sum));
  EXPECT_TRUE(fails(nots + "a"));
  EXPECT_TRUE(fails(dots));
  EXPECT_TRUE(fails(ifs));
}

}  // namespace
}  // namespace infer::templates
