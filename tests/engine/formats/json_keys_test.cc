// JSON to a table of keys.
#include "engine/formats/json_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infer::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(json_keys, joins_nested_names_and_notes_null_as_none) {
  const auto parsed = json_keys::parse(
      R"({"a": 1, "b": {"c": -2, "d": {"e": 22.449822424817246}}, "f": null, "g": "x", "h": true})", "c");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const metadata& keys = parsed.value().keys;
  EXPECT_EQ(keys.count("a").value(), 1u);
  EXPECT_EQ(keys.integer("b.c").value(), -2);
  EXPECT_EQ(keys.real("b.d.e").value(), 22.449822424817246);
  EXPECT_EQ(keys.text("g").value(), "x");
  EXPECT_TRUE(keys.boolean("h").value());
  EXPECT_FALSE(keys.contains("f"));
  EXPECT_TRUE(keys.is_none("f"));
  EXPECT_FALSE(keys.is_none("a"));
  EXPECT_FALSE(keys.is_none("absent"));
  EXPECT_FALSE(keys.contains("b"));
}

TEST(json_keys, keeps_lists_of_one_kind) {
  const auto parsed = json_keys::parse(
      R"({"t": ["x", "y"], "i": [1, 0], "b": [true, false], "f": [1, 2.5], "m": [1, "x"], "e": []})", "c");
  ASSERT_TRUE(parsed);
  const metadata& keys = parsed.value().keys;
  EXPECT_THAT(keys.texts("t").value(), ElementsAre("x", "y"));
  EXPECT_THAT(keys.integers("i").value(), ElementsAre(1, 0));
  EXPECT_THAT(keys.integers("b").value(), ElementsAre(1, 0));
  EXPECT_THAT(keys.reals("f").value(), ElementsAre(1.0f, 2.5f));
  EXPECT_FALSE(keys.contains("m"));
  EXPECT_FALSE(keys.contains("e"));
}

TEST(json_keys, a_lifted_object_wins_over_its_surroundings) {
  const auto parsed = json_keys::parse(R"({"type": "outer", "more": 1, "inner": {"type": "own"}})", "c", "inner");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed.value().keys.text("type").value(), "own");
  EXPECT_EQ(parsed.value().keys.count("more").value(), 1u);
  EXPECT_FALSE(parsed.value().keys.contains("inner.type"));
}

TEST(json_keys, a_lifted_none_gives_way_to_a_value_outside) {
  const auto parsed = json_keys::parse(R"({"a": 1, "inner": {"a": null}})", "c", "inner");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed.value().keys.count("a").value(), 1u);
  EXPECT_FALSE(parsed.value().keys.is_none("a"));
}

TEST(json_keys, says_what_is_no_object) {
  EXPECT_THAT(json_keys::parse("{", "c.json").error().message(), HasSubstr("c.json: this is not JSON"));
  EXPECT_THAT(json_keys::parse("[1]", "c.json").error().message(), HasSubstr("not an object"));
}

TEST(json_keys, the_table_moves_with_its_text) {
  auto parsed = json_keys::parse(R"({"a": "short", "b": "a text that is longer than any small buffer holds"})", "c");
  ASSERT_TRUE(parsed);
  const json_keys moved = std::move(parsed.value());
  EXPECT_EQ(moved.keys.text("a").value(), "short");
  EXPECT_THAT(std::string(moved.keys.text("b").value()), HasSubstr("longer than any"));
}

}  // namespace
}  // namespace infer::formats
