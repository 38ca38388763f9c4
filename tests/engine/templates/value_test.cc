// Tests of: Construction of values and the ordered dictionary.
#include "engine/templates/value.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace infer::templates {
namespace {

TEST(template_value, converts_json_in_order) {
  const auto made = from_json(boost::json::parse(R"({"b": [1, 1.0, null, true, "s"], "a": {}})"));
  ASSERT_TRUE(made);
  const dictionary* object = made.value().as_dictionary();
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->entries[0].first.as_text()->view(), "b");
  const auto& items = object->find(std::string_view("b"))->as_sequence()->items;
  EXPECT_EQ(type_name(items[0]), "int");
  EXPECT_EQ(type_name(items[1]), "float");
  EXPECT_TRUE(items[2].is_none());
  EXPECT_EQ(made.value().depth(), 2u);
}

TEST(template_value, equal_numbers_are_one_key) {
  dictionary made;
  EXPECT_TRUE(made.put(value(std::int64_t{1}), value(std::int64_t{5})));
  EXPECT_TRUE(made.put(value(1.0), value(std::int64_t{6})));
  EXPECT_TRUE(made.put(value(true), value(std::int64_t{7})));
  EXPECT_TRUE(made.put(value::data("1"), value(std::int64_t{8})));
  EXPECT_EQ(made.entries.size(), 2u);
  EXPECT_EQ(made.find(value(std::int64_t{1}))->as_integer(), 7);
  EXPECT_FALSE(made.put(value::list({}), value(true)));
  EXPECT_TRUE(made.put(value::tuple({value(true)}), value(true)));
}

TEST(template_value, large_dictionaries_find_what_small_ones_do) {
  for (const int size : {1, 8, 9, 100}) {
    dictionary made;
    for (std::int64_t i = 0; i < size; ++i) {
      EXPECT_TRUE(made.put(value::data("key " + std::to_string(i)), value(i)));
      EXPECT_TRUE(made.put(value(i), value(-i)));
    }
    EXPECT_TRUE(made.put(value::data("key 0"), value(std::int64_t{7})));
    EXPECT_EQ(made.entries.size(), 2u * static_cast<std::size_t>(size));
    EXPECT_EQ(made.find(std::string_view("key 0"))->as_integer(), 7);
    EXPECT_EQ(made.find(value(std::int64_t{size - 1}))->as_integer(), 1 - size);
    EXPECT_EQ(made.find(std::string_view("key")), nullptr);
    EXPECT_EQ(made.find(value(std::int64_t{size})), nullptr);
  }
}

TEST(template_value, only_a_text_that_nothing_shares_may_change) {
  value one = value::data("a");
  ASSERT_NE(one.sole_text(), nullptr);
  value other = one;
  EXPECT_EQ(one.sole_text(), nullptr);
  other = value();
  EXPECT_NE(one.sole_text(), nullptr);
  EXPECT_EQ(other.sole_text(), nullptr);
}

TEST(template_value, weighs_shared_parts_each_time) {
  value item = value::data(std::string(100, 'x'));
  for (int i = 0; i < 10; ++i) item = value::list({item, item});
  EXPECT_GT(item.weight(), 100u * 1024);
  EXPECT_EQ(item.depth(), 10u);
  EXPECT_EQ(item.own_bytes(), 128u);
}

TEST(template_value, names_types) {
  EXPECT_EQ(type_name(value()), "Undefined");
  EXPECT_EQ(type_name(value(none_value{})), "NoneType");
  EXPECT_EQ(type_name(value::tuple({})), "tuple");
}

}  // namespace
}  // namespace infer::templates
