// Tests of: Calls of functions, methods and macros.
#include "engine/templates/evaluator.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(template_calls, methods_are_values_too) {
  EXPECT_EQ(rendered("{% set u = 'a'.upper %}{{ u() }}{{ ('b'.upper)() }}{{ 'c'.upper() }}").value(), "ABC");
  EXPECT_EQ(rendered("{{ 'a'.nothing() }}").error().message(), "line 1: 'str object' has no attribute 'nothing'");
}

TEST(template_calls, names_hide_functions) {
  EXPECT_EQ(rendered("{% macro range(n) %}<{{ n }}>{% endmacro %}{{ range(2) }}").value(), "<2>");
  EXPECT_EQ(rendered("{{ range(2) }}", {{"range", 3}}).error().message(), "line 1: 'int' object is not callable");
  EXPECT_EQ(rendered("{{ nothing() }}").error().message(), "line 1: 'nothing' is undefined");
}

TEST(template_calls, what_no_parameter_takes) {
  EXPECT_EQ(
      rendered("{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, b=3) }}{{ m() }}").value(),
      "1(2,){'b': 3}(){}");
  EXPECT_EQ(rendered("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}").error().message(),
            "line 1: macro 'm' takes not more than 1 argument(s)");
  EXPECT_EQ(rendered("{% macro m(a) %}{% endmacro %}{{ m(b=2) }}").error().message(),
            "line 1: macro 'm' takes no keyword argument 'b'");
}

TEST(template_calls, a_call_block_may_call_a_macro_in_a_namespace) {
  EXPECT_EQ(rendered("{% macro m(x) %}{{ x }}{{ caller(2) }}{% endmacro %}{% set ns = namespace(m=m) %}"
                     "{% call(n) ns.m(1) %}[{{ n }}]{% endcall %}")
                .value(),
            "1[2]");
}

}  // namespace
}  // namespace infer::templates
