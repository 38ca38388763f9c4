// Tests of: The expression half of the evaluator.
#include "engine/templates/evaluator.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(template_expressions, short_circuit) {
  EXPECT_EQ(rendered("{{ true or 1 / 0 }}{{ false and 1 / 0 }}{{ 1 if true else 1 / 0 }}{{ 2 < 1 < 1 / 0 }}").value(),
            "TrueFalse1False");
}

TEST(template_expressions, macros_bind_by_position_and_name) {
  const std::string macro = "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}";
  EXPECT_EQ(rendered(macro + "{{ m(1) }}{{ m(1, 2) }}{{ m(b=3, a=4) }}").value(), "111243");
  EXPECT_EQ(rendered(macro + "{{ m(1, a=2) }}").error().code, fault::evaluation);
}

}  // namespace
}  // namespace infer::templates
