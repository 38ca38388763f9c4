// Tests of: What follows a primary expression: attributes, subscripts, calls, filters and tests.
#include "engine/templates/expression_parser.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(postfix_parser, takes_chains_of_every_kind) {
  const auto data = boost::json::parse(R"({"a": {"b": [["x", "y"]]}})").as_object();
  EXPECT_EQ(rendered("{{ a.b[0][1].upper()|lower|replace('y', 'z') }}", data).value(), "z");
  EXPECT_EQ(rendered("{{ a.b.0.1 is string }}{{ a.b[0][:1] }}", data).value(), "True['x']");
}

TEST(postfix_parser, names_come_after_positions) {
  EXPECT_EQ(rendered("{{ dict(a=1, 2) }}").error().code, fault::syntax);
  EXPECT_EQ(rendered("{{ dict(*[[['a', 1]]], **{'b': 2}) }}").value(), "{'a': 1, 'b': 2}");
}

TEST(postfix_parser, one_test_at_a_time) {
  EXPECT_EQ(rendered("{{ a is b is c }}").error().code, fault::syntax);
}

}  // namespace
}  // namespace infer::templates
