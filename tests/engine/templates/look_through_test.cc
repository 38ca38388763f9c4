// Tests of: Expressions that need no new value: conditions, and names, attributes and items where they lie.
#include "engine/templates/evaluator.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

// A macro that assigns what the other operand, the input or the object is.
const std::string assigns =
    "{% set ns = namespace(s='old', l=['old']) %}"
    "{% macro f() %}{% set ns.s = 'a much longer string than before' %}{% set ns.l = [] %}new{% endmacro %}";

TEST(template_look_through, what_was_read_stays_whatever_is_assigned_next) {
  EXPECT_EQ(rendered(assigns + "{{ ns.s + f() }}").value(), "oldnew");
  EXPECT_EQ(rendered(assigns + "{{ ns.s ~ f() ~ ns.l }}").value(), "oldnew[]");
  EXPECT_EQ(rendered(assigns + "{{ ns.s == f() }}{{ ns.s == 'old' }}").value(), "FalseFalse");
  EXPECT_EQ(rendered(assigns + "{{ ns.l[0]|replace('old', f()) }}").value(), "new");
  EXPECT_EQ(rendered(assigns + "{{ ns.s.replace('old', f()) }}").value(), "new");
  EXPECT_EQ(rendered(assigns + "{{ ns.l[f()|length - 3] }}").value(), "old");
  EXPECT_EQ(rendered(assigns + "{{ ns.s is in([f(), 'old']) }}").value(), "True");
  EXPECT_EQ(rendered(assigns + "{% for x in ns.l %}{{ f() }}{{ x }}{% endfor %}").value(), "newold");
  EXPECT_EQ(rendered(assigns + "{{ 'a' < ns.s < f() }}{{ ns.s > f() }}").value(), "FalseFalse");
}

TEST(template_look_through, conditions_have_the_truth_of_values) {
  EXPECT_EQ(rendered("{{ 1 if [] or 'x' }}{{ 1 if [] and 'x' else 0 }}{{ not '' }}{{ not 1 in [1] }}").value(),
            "10TrueFalse");
  EXPECT_EQ(rendered("{{ [] or 'x' }}{{ 0 and 'x' }}").value(), "x0");
  EXPECT_EQ(rendered("{% if x.y %}{% endif %}").error().message(), "line 1: 'x' is undefined");
}

TEST(template_look_through, a_long_chain_of_attributes_ends) {
  std::string chain = "{{ ns";
  for (int i = 0; i < 1500; ++i) chain += ".n";
  const auto made = rendered("{% set ns = namespace() %}{% set ns.n = ns %}" + chain + "}}");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, fault::limit);
}

}  // namespace
}  // namespace infer::templates
