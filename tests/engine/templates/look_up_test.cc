// Tests of: Items, lengths, subscripts and slices.
#include "engine/templates/operations.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

TEST(template_look_up, slices_with_any_bounds) {
  const value string = value::data("a\u00e9cde");
  const auto part = [&](slice_bounds bounds) { return std::string(slice(string, bounds).value().as_text()->view()); };
  EXPECT_EQ(part({1, 3, {}}), "\u00e9c");
  EXPECT_EQ(part({-2, {}, {}}), "de");
  EXPECT_EQ(part({{}, {}, -2}), "eca");
  EXPECT_EQ(part({INT64_MIN, INT64_MAX, {}}), "a\u00e9cde");
  EXPECT_EQ(part({INT64_MAX, INT64_MIN, INT64_MIN}), "e");
  EXPECT_FALSE(slice(string, {{}, {}, 0}));
}

TEST(template_look_up, an_absent_item_is_undefined) {
  const value list = value::list({value(true)});
  EXPECT_TRUE(subscript(list, value(std::int64_t{1})).value().is_undefined());
  EXPECT_FALSE(subscript(list, value(std::int64_t{-1})).value().is_undefined());
  EXPECT_FALSE(subscript(value(), value(std::int64_t{0})));
}

TEST(template_look_up, lengths_count_characters) {
  EXPECT_EQ(length_of(value::data("\u00e9\U0001F600")).value(), 2);
  EXPECT_FALSE(length_of(value(none_value{})));
}

}  // namespace
}  // namespace infer::templates
