// Tests of: The methods of strings. Offsets count characters.
#include "engine/templates/method_table.h"

#include <gtest/gtest.h>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

TEST(template_text_methods, want_strings) {
  EXPECT_EQ(rendered("{{ 'a'.startswith(1) }}").error().code, fault::evaluation);
  EXPECT_EQ(rendered("{{ 'a'.replace('b') }}").error().code, fault::evaluation);
  EXPECT_EQ(rendered("{{ 'a'.split(none) }}").value(), "['a']");
}

TEST(template_text_methods, count_in_characters) {
  EXPECT_EQ(rendered("{{ 'é😀x'.find('x') }}{{ 'aXbX'.rfind('X') }}{{ 'éé'.count('') }}").value(), "233");
  EXPECT_EQ(
      rendered("{{ s.find('o', 5) }} {{ s.find('ß', -3) }} {{ s.find('o', 9, -1) }}", {{"s", "Hello, World! Straße"}})
          .value(),
      "8 18 -1");
}

TEST(template_text_methods, keep_where_each_byte_came_from) {
  const boost::json::object data{{"s", "a<end>b"}};
  EXPECT_EQ(provenance("{{ s.partition('<end>')[1] }}", data), "(<end>)");
  EXPECT_EQ(provenance("{{ s.ljust(9, '.') }}", data), "(a<end>b)[..]");
  EXPECT_EQ(provenance("{{ '-7'.rjust(3, f) }}", {{"f", "x"}}), "(x)[-7]");
}

TEST(template_text_methods, refuse_a_width_beyond_what_a_value_may_have) {
  EXPECT_EQ(rendered("{{ 'a'.ljust(9223372036854775807, 'é') }}").error().code, fault::limit);
  EXPECT_EQ(rendered("{{ 'a'.zfill(9223372036854775807) }}").error().code, fault::limit);
  EXPECT_EQ(rendered("{{ 'ab'.ljust(-9223372036854775807 - 1) }}").value(), "ab");
}

TEST(template_text_methods, take_bounds_of_any_size) {
  EXPECT_EQ(rendered("{{ 'aba'.find('a', -9223372036854775807, 9223372036854775807) }}").value(), "0");
  EXPECT_EQ(rendered("{{ 'aba'.count('a', 9223372036854775807) }}").value(), "0");
}

}  // namespace
}  // namespace infer::templates
