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

TEST(template_statements, a_text_that_grows_keeps_provenance_and_what_was_copied_from_it) {
  const boost::json::object data{{"l", {"a", "b"}}};
  EXPECT_EQ(provenance("{% set ns = namespace(s='') %}{% for m in l %}{% set ns.s = ns.s ~ '<' ~ m %}{% endfor %}"
                       "{{ ns.s }}",
                       data),
            "[<](a)[<](b)");
  EXPECT_EQ(rendered("{% set ns = namespace(s='a') %}{% set t = ns.s %}{% set ns.s = ns.s ~ 'b' %}{% set u = ns.s %}"
                     "{% set ns.s = ns.s + 'c' %}{{ t }} {{ u }} {{ ns.s }}")
                .value(),
            "a ab abc");
  EXPECT_EQ(rendered("{% set s = 'a' %}{% set s = s ~ s ~ s %}{% set s = s + s %}{{ s }}").value(), "aaaaaa");
}

TEST(template_statements, a_text_that_its_own_parts_assign_grows_from_what_it_was) {
  EXPECT_EQ(rendered("{% set ns = namespace(s='a') %}{% macro f() %}{% set ns.s = 'x' %}b{% endmacro %}"
                     "{% set ns.s = ns.s ~ f() %}{{ ns.s }}{% set ns.s = ns.s + f() %}{{ ns.s }}")
                .value(),
            "ababb");
}

TEST(template_statements, sums_of_other_things_are_not_texts_that_grow) {
  EXPECT_EQ(rendered("{% set a = 1 %}{% set a = a + 2 %}{% set l = [1] %}{% set l = l + [2] %}{{ a }}{{ l }}").value(),
            "3[1, 2]");
  EXPECT_EQ(rendered("{% set a = 'x' %}{% set a = a + 1 %}").error().code, fault::evaluation);
  EXPECT_EQ(rendered("{% set a = '<'|safe %}{% set a = a + '>' %}{{ a }}").value(), "<&gt;");
  EXPECT_EQ(rendered("{% set a = '<' %}{% set a = a + '>'|safe %}{{ a }}").value(), "&lt;>");
  EXPECT_EQ(rendered("{% set a = 'x' %}{% for i in [1, 2] %}{% set a = a ~ i %}{{ a }}{% endfor %}{{ a }}").value(),
            "x1x2x");
}

}  // namespace
}  // namespace infer::templates
