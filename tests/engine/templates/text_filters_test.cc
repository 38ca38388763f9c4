// Tests of: Filters that make strings and numbers.
#include "engine/templates/builtins.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(text_filters, numbers_come_out_of_strings) {
  EXPECT_EQ(
      rendered("{{ '-0x1F'|int(base=16) }} {{ '1_000'|int }} {{ '+-3'|int(7) }} {{ '1e400'|float(2.0) }}").value(),
      "-31 1000 7 inf");
}

TEST(text_filters, tojson_does_not_escape_html) {
  EXPECT_EQ(rendered("{{ s|tojson }}", {{"s", "<a href='x'>&</a>"}}).value(), "\"<a href='x'>&</a>\"");
}

TEST(text_filters, indent_is_bounded) {
  EXPECT_EQ(rendered("{{ 'a\nb'|indent(100000) }}").error().code, fault::limit);
  EXPECT_EQ(rendered("{{ {}|tojson(indent=1000) }}").error().code, fault::evaluation);
}

}  // namespace
}  // namespace infer::templates
