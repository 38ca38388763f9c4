// Tests of: Arguments, attributes and items.
#include "engine/templates/builtins.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(template_attributes, methods_hide_keys_from_dots_only) {
  const auto data = boost::json::parse(R"({"d": {"items": 1, "x": 2}})").as_object();
  EXPECT_EQ(rendered("{{ d['items'] }}{{ d.x }}{{ d.items()|length }}", data).value(), "122");
}

TEST(template_attributes, nothing_changes_its_object) {
  const auto data = boost::json::parse(R"({"l": [1], "d": {}})").as_object();
  EXPECT_EQ(rendered("{{ l.append(2) }}", data).error().message(),
            "line 1: access to attribute 'append' of 'list' object is unsafe.");
  EXPECT_EQ(rendered("{{ d.pop('x') }}", data).error().code, fault::evaluation);
  EXPECT_EQ(rendered("{{ l.__class__ }}{{ l.pop }}", data).value(), "");
}

}  // namespace
}  // namespace infer::templates
