// Tests of: Looks filters up by name.
#include "engine/templates/builtins.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(template_filters, are_looked_up_when_reached) {
  EXPECT_EQ(rendered("{{ 1|nonsense if false else 2 }}").value(), "2");
  EXPECT_EQ(rendered("{{ 1|nonsense }}").error().message(), "line 1: No filter named 'nonsense'.");
  EXPECT_NE(find_filter("tojson"), nullptr);
  EXPECT_EQ(find_filter("nonsense"), nullptr);
}

}  // namespace
}  // namespace infer::templates
