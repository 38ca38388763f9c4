// Tests of: Scopes while a template runs: their frames, and the names in them.
#include "engine/templates/evaluator.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(template_frames, a_round_starts_with_nothing_assigned) {
  EXPECT_EQ(rendered("{% for x in [1, 2] %}{{ y }}{% set y = x %}{{ y }};{% endfor %}").value(), "1;2;");
  EXPECT_EQ(rendered("{% set y = 0 %}{% for x in [1, 2] %}{{ y }}{% set y = x %}{{ y }};{% endfor %}{{ y }}").value(),
            "01;02;0");
}

TEST(template_frames, what_a_macro_keeps_is_not_used_again) {
  EXPECT_EQ(rendered("{% set ns = namespace(m=[]) %}{% for x in [1, 2, 3] %}{% macro m() %}{{ x }}{% endmacro %}"
                     "{% set ns.m = ns.m + [m] %}{% endfor %}{% for m in ns.m %}{{ m() }}{% endfor %}")
                .value(),
            "123");
}

TEST(template_frames, recursion_has_a_frame_for_each_call) {
  EXPECT_EQ(rendered("{% macro f(n) %}{% set m = n %}{% if n %}{{ f(n - 1) }}{% endif %}{{ m }}{% endmacro %}"
                     "{{ f(3) }}{{ f(2) }}")
                .value(),
            "0123012");
}

TEST(template_frames, macros_see_names_that_are_assigned_later) {
  EXPECT_EQ(rendered("{% macro f() %}{{ x }}{% endmacro %}[{{ f() }}]{% set x = 1 %}[{{ f() }}]").value(), "[][1]");
}

TEST(template_frames, a_kept_loop_goes_on) {
  EXPECT_EQ(rendered("{% set ns = namespace() %}{% for x in 'abc' %}{% set ns.l = loop %}{% endfor %}"
                     "{{ ns.l.index }}{{ ns.l.last }}")
                .value(),
            "3True");
}

}  // namespace
}  // namespace infer::templates
