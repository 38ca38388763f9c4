// Tests of: range, namespace, dict, raise_exception and strftime_now.
#include "engine/templates/builtins.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(template_globals, ranges_end_at_the_sandbox_bound) {
  EXPECT_EQ(rendered("{{ range(100000)|length }}").value(), "100000");
  EXPECT_EQ(rendered("{{ range(100001) }}").error().code, fault::limit);
  EXPECT_EQ(rendered("{{ range(9223372036854775807, 0) |list}}").value(), "[]");
  EXPECT_EQ(rendered("{{ range(1, 2, 0) }}").error().code, fault::evaluation);
}

TEST(template_globals, the_clock_is_the_callers) {
  EXPECT_EQ(rendered("{{ strftime_now('%A %d %B %Y, %H:%M') }}").value(), "Friday 26 July 2024, 13:05");
  EXPECT_EQ(rendered("{{ strftime_now('') }}").value(), "");
}

TEST(template_globals, variables_hide_them) {
  EXPECT_EQ(rendered("{{ range }}", {{"range", 3}}).value(), "3");
}

}  // namespace
}  // namespace infer::templates
