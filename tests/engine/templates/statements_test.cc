// Tests of: The statement half of the evaluator.
#include "engine/templates/evaluator.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(template_statements, loops_and_blocks_have_their_own_scope) {
  EXPECT_EQ(
      rendered(
          "{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{% with x = 3 %}{{ x }}{% endwith %}{{ x }}")
          .value(),
      "31");
  EXPECT_EQ(rendered("{% for i in [] %}{% else %}{% set x = 2 %}{% endfor %}{{ x is defined }}").value(), "False");
}

TEST(template_statements, a_failed_round_leaves_no_trace_in_the_next_rendering) {
  const auto compiled = chat_template::compile("{% for i in l %}{{ 1 // i }}{% endfor %}").value();
  EXPECT_FALSE(compiled.render(boost::json::parse(R"({"l": [1, 0]})").as_object()));
  EXPECT_EQ(joined(compiled.render(boost::json::parse(R"({"l": [1]})").as_object()).value()), "1");
}

TEST(template_statements, a_caller_belongs_to_its_call) {
  EXPECT_EQ(
      rendered("{% macro a(x) %}{{ x }}{{ caller() }}{% endmacro %}{% macro b() %}{{ caller is defined }}{% endmacro %}"
               "{% call a(b()) %}!{% endcall %}")
          .value(),
      "False!");
}

}  // namespace
}  // namespace infer::templates
