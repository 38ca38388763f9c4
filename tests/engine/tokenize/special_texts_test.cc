// Tests of: The trie of special texts: children are linked lists, since only the first level is ever wide.
#include "engine/tokenize/special_texts.h"

#include <gtest/gtest.h>

namespace infer::tokenize {
namespace {

TEST(special_texts, the_longest_text_wins) {
  special_texts texts;
  texts.add("<a>", 1, true);
  texts.add("<a>b", 2, true);
  texts.add("<a>bcd", 3, true);
  const auto found = texts.longest("x<a>bc", 1, 6);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, 2);
  EXPECT_EQ(found->length, 4u);
  EXPECT_FALSE(texts.longest("x<a>bc", 0, 6));
}

TEST(special_texts, restricted_texts_must_end_inside_what_is_allowed) {
  special_texts texts;
  texts.add("<a>", 1, true);
  texts.add("<a>b", 2, true);
  texts.add("<", 3, false);
  EXPECT_EQ(texts.longest("<a>b", 0, 4)->id, 2);
  EXPECT_EQ(texts.longest("<a>b", 0, 3)->id, 1);
  EXPECT_EQ(texts.longest("<a>b", 0, 2)->id, 3);
  EXPECT_EQ(texts.longest("<a>b", 0, 0)->id, 3);
}

TEST(special_texts, empty_and_repeated_texts_are_harmless) {
  special_texts texts;
  texts.add("", 1, false);
  texts.add("z", 2, false);
  texts.add("z", 3, false);
  EXPECT_FALSE(texts.longest("abc", 0, 3));
  EXPECT_EQ(texts.longest("z", 0, 1)->id, 2);
  EXPECT_TRUE(texts.may_start('z'));
  EXPECT_FALSE(texts.may_start('a'));
}

}  // namespace
}  // namespace infer::tokenize
