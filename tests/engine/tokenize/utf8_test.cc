// Tests of: UTF-8 stepping by Unicode's table 3-7.
#include "engine/tokenize/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace infer::tokenize {
namespace {

using kind = utf8_step::kind;

void expect_step(std::string_view bytes, kind what, std::size_t length) {
  const utf8_step step = utf8_first(bytes);
  EXPECT_EQ(step.what, what) << testing::PrintToString(bytes);
  EXPECT_EQ(step.length, length) << testing::PrintToString(bytes);
}

TEST(utf8, steps_over_characters_of_every_length) {
  expect_step("ab", kind::character, 1);
  expect_step("\xC3\xA9x", kind::character, 2);
  expect_step("\xE2\x82\xAC", kind::character, 3);
  expect_step("\xF0\x9F\x98\x80", kind::character, 4);
  expect_step("\xF4\x8F\xBF\xBF", kind::character, 4);
}

TEST(utf8, finds_the_maximal_ill_formed_part) {
  expect_step("\x80", kind::invalid, 1);
  expect_step("\xC0\xAF", kind::invalid, 1);
  expect_step("\xE0\x80", kind::invalid, 1);          // overlong
  expect_step("\xED\xA0\x80", kind::invalid, 1);      // surrogate
  expect_step("\xF4\x90\x80\x80", kind::invalid, 1);  // beyond U+10FFFF
  expect_step("\xF0\x9F\x98x", kind::invalid, 3);
  expect_step(
      "\xE2\x82"
      "a",
      kind::invalid, 2);
}

TEST(utf8, tells_incomplete_from_ill_formed) {
  expect_step("\xC3", kind::incomplete, 1);
  expect_step("\xE2\x82", kind::incomplete, 2);
  expect_step("\xF0\x9F\x98", kind::incomplete, 3);
}

TEST(utf8, validates_whole_texts) {
  EXPECT_TRUE(utf8_valid(""));
  EXPECT_TRUE(utf8_valid(std::string(100, 'a') + "\xC3\xA9" + std::string(9, 'b')));
  EXPECT_FALSE(utf8_valid(std::string(100, 'a') + "\xC3"));
  EXPECT_FALSE(utf8_valid("abcdefg\xFFhijklmnop"));
}

}  // namespace
}  // namespace infer::tokenize
