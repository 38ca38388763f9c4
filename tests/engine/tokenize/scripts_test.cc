// Which characters go together.
#include "engine/tokenize/scripts.h"

#include <gtest/gtest.h>

namespace infer::tokenize {
namespace {

TEST(scripts, tell_letters_apart_and_let_spaces_go_with_any) {
  EXPECT_EQ(script_of(U'a'), script_of(U'Z'));
  EXPECT_NE(script_of(U'a'), script_of(U'Ж'));
  EXPECT_NE(script_of(U'a'), script_of(U'1'));
  EXPECT_EQ(script_of(U'1'), script_of(U'\n'));
  EXPECT_EQ(script_of(U' '), 0);
  EXPECT_EQ(script_of(0x0378), 0);    // no character
  EXPECT_EQ(script_of(0x10FFFF), 0);  // the last
}

TEST(scripts, of_japanese_are_one) {
  EXPECT_EQ(script_of(U'漢'), script_of(U'ひ'));
  EXPECT_EQ(script_of(U'漢'), script_of(U'カ'));
  EXPECT_EQ(script_of(U'漢'), script_of(U'ー'));
}

TEST(scripts, of_every_character_are_those_of_the_library) {
  std::uint32_t hash = 0x811C9DC5;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    hash = (hash ^ script_of(c)) * 0x01000193;
  }
  EXPECT_EQ(hash, 0x79c7b146u);
}

}  // namespace
}  // namespace infer::tokenize
