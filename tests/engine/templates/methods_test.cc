// Tests of: The methods of dictionaries, lists and loops, and how methods are found. None changes its object.
#include "engine/templates/builtins.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(template_methods, find_items_of_lists_between_bounds) {
  const boost::json::object data{{"l", {3, 1, 3}}};
  EXPECT_EQ(rendered("{{ l.index(3) }}{{ l.index(3, 1) }}{{ l.index(3, -1) }}{{ l.index(1, -99, 99) }}", data).value(),
            "0221");
  EXPECT_EQ(rendered("{{ l.index(3, 1, 2) }}", data).error().code, fault::evaluation);
  EXPECT_EQ(rendered("{{ l.index() }}", data).error().code, fault::evaluation);
}

TEST(template_methods, belong_to_what_they_are_asked_of) {
  EXPECT_EQ(methods::named("count").of(value(text("a", true))), methods::named("count").of_text);
  EXPECT_EQ(methods::named("count").of(value::list({})), methods::named("count").of_list);
  EXPECT_EQ(methods::named("zfill").of(value::list({})), nullptr);
}

}  // namespace
}  // namespace infer::templates
