// Tests of: Python's `pattern % values`.
#include "engine/templates/operations.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

std::string formatted(const char* pattern, const value& values) {
  budget spent(render_limits{});
  const auto made = format_percent(text(pattern, true), values, spent);
  return made ? std::string(made.value().as_text()->view()) : "error";
}

TEST(percent_format, writes_strings_and_numbers) {
  EXPECT_EQ(formatted("%s-%5.1f-%03d%%", value::tuple({value::data("x"), value(2.25), value(std::int64_t{7})})),
            "x-  2.2-007%");
  EXPECT_EQ(formatted("%-4s|", value::data("\u00e9")), "\u00e9   |");
}

TEST(percent_format, refuses_what_does_not_fit) {
  EXPECT_EQ(formatted("%s%s", value::data("x")), "error");
  EXPECT_EQ(formatted("x", value::data("x")), "error");
  EXPECT_EQ(formatted("%d", value::data("x")), "error");
  EXPECT_EQ(formatted("%99999999d", value(std::int64_t{1})), "error");
  EXPECT_EQ(formatted("%", value::tuple({})), "error");
  EXPECT_EQ(formatted("%d", value(1e300)), "error");
}

}  // namespace
}  // namespace infer::templates
