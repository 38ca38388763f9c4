// Tests of: Character handling over utf8proc.
#include "engine/templates/unicode.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

TEST(template_unicode, counts_and_finds_characters) {
  EXPECT_EQ(count_characters("a\u00e9\U0001F600"), 3u);
  EXPECT_EQ(offset_of_character("a\u00e9\U0001F600", 2), 3u);
  EXPECT_EQ(offset_of_character("ab", 9), 2u);
  EXPECT_EQ(count_characters("\xFF\xFE"
                             "a"),
            3u);  // ill-formed bytes count one each
}

TEST(template_unicode, strips_from_both_ends) {
  const byte_range spaces = stripped(" \u3000a b\n", nullptr, true, true);
  EXPECT_EQ(spaces.begin, 4u);
  EXPECT_EQ(spaces.end, 7u);
  const std::string_view set = "x\u00e9";
  const byte_range some = stripped("\u00e9xax\u00e9", &set, false, true);
  EXPECT_EQ(some.begin, 0u);
  EXPECT_EQ(some.end, 4u);
  EXPECT_EQ(stripped("\x80\x80", nullptr, true, true).end, 2u);
}

TEST(template_unicode, changes_case) {
  EXPECT_EQ(to_upper("stra\u00dfe"), "STRASSE");
  EXPECT_EQ(to_lower("\u00c9\u03a9"), "\u00e9\u03c9");
  EXPECT_EQ(capitalize("hELLO w"), "Hello w");
  EXPECT_EQ(title_case("it's a-b"), "It'S A-B");
  EXPECT_EQ(to_upper("a\xFF"), "A\xFF");
  EXPECT_TRUE(is_upper("A1"));
  EXPECT_FALSE(is_upper("1"));
}

TEST(template_unicode, strips_large_sets_as_it_does_small_ones) {
  const std::string_view bytes = "\xC3\xA9\xE9 aé😀x😀é";
  const std::string small = "é😀a ", large = small + std::string(100, '.') + "\xE9";
  const std::string_view few = small, many = large;
  byte_range kept = stripped(bytes, &few, true, true);
  EXPECT_EQ(kept.begin, 2u);
  EXPECT_EQ(bytes.substr(kept.begin, kept.end - kept.begin), "\xE9 aé😀x");
  kept = stripped(bytes, &many, true, true);
  EXPECT_EQ(bytes.substr(kept.begin, kept.end - kept.begin), "x");
}

}  // namespace
}  // namespace infer::templates
