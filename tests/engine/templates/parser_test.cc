// Tests of: Statements: what stands between {% and %}.
#include "engine/templates/parser.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

TEST(template_parser, builds_the_tree) {
  const auto made =
      parse("a{% if x %}b{% elif y %}c{% else %}d{% endif %}{% for k, v in z if k %}{% break %}{% endfor %}");
  ASSERT_TRUE(made) << made.error().message();
  ASSERT_EQ(made.value().size(), 3u);
  const statement& choice = *made.value()[1];
  EXPECT_EQ(choice.kind, statement_kind::if_else);
  EXPECT_EQ(choice.otherwise[0]->otherwise[0]->kind, statement_kind::data);
  const statement& loop = *made.value()[2];
  EXPECT_EQ(loop.target->children.size(), 2u);
  EXPECT_NE(loop.condition, nullptr);
}

TEST(template_parser, says_what_was_expected) {
  EXPECT_EQ(parse("{% for x y %}").error().message(), "line 1: expected 'in', found 'y'");
  EXPECT_EQ(parse("\n{% macro 1 %}").error().message(), "line 2: expected a name, found '1'");
  EXPECT_EQ(parse("{% continue %}").error().code, fault::syntax);
}

TEST(template_parser, bounds_the_depth_of_statements) {
  std::string source;
  for (int i = 0; i < 10000; ++i) source += "{% if x %}";
  EXPECT_EQ(parse(source).error().code, fault::syntax);
}

}  // namespace
}  // namespace infer::templates
