// Tests of: What may follow `is`.
#include "engine/templates/builtins.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(builtin_tests, refuse_wrong_arguments_and_unknown_names) {
  EXPECT_EQ(rendered("{{ 1 is divisibleby }}").error().code, fault::evaluation);
  EXPECT_EQ(rendered("{{ 1 is defined(2) }}").error().code, fault::evaluation);
  EXPECT_EQ(rendered("{{ 1 is nonsense }}").error().message(), "line 1: No test named 'nonsense'.");
}

TEST(builtin_tests, tell_kinds_apart) {
  EXPECT_EQ(rendered("{{ true is integer }}{{ 1 is integer }}{{ 1.0 is float }}{{ '' is sequence }}{{ {} is mapping }}")
                .value(),
            "FalseTrueTrueTrueTrue");
}

}  // namespace
}  // namespace infer::templates
