// Tests of: Walks the double array of a precompiled character map.
#include "engine/tokenize/character_map.h"

#include <gtest/gtest.h>

#include "tests/engine/tokenize/character_map_builder.h"

namespace infer::tokenize {
namespace {

std::string mapped(const character_map& map, std::string_view text, bool by_prefix) {
  std::string out;
  by_prefix ? map.append_by_prefix(text, out) : map.append_by_grapheme(text, out);
  return out;
}

const std::string& blob() {
  static const std::string made = character_map_builder::build(
      {{"\uff21", "A"}, {"e", "E"}, {"e\u0301", "\u00e9"}, {"\u3000", " "}, {"\u200b", ""}});
  return made;
}

TEST(character_map, replaces_the_longest_key_at_each_place) {
  const auto map = character_map::make(blob());
  ASSERT_TRUE(map) << map.error().message();
  EXPECT_EQ(mapped(map.value(), "\uff21x\u3000e\u0301\u200be", true), "Ax \u00e9E");
  EXPECT_EQ(mapped(map.value(), "", true), "");
}

TEST(character_map, replaces_a_grapheme_by_what_its_shortest_key_gives) {
  const auto map = character_map::make(blob());
  ASSERT_TRUE(map);
  EXPECT_EQ(mapped(map.value(), "\uff21x\u3000e\u0301", false), "Ax E");
  EXPECT_EQ(mapped(map.value(), "e\u0301\u0302\u0303", false), "E\u0301\u0302\u0303");  // too long for a whole
}

TEST(character_map, what_is_cut_off_is_malformed) {
  EXPECT_EQ(character_map::make("").error().code, fault::malformed);
  EXPECT_EQ(character_map::make("abcdefgh").error().code, fault::malformed);
  EXPECT_EQ(character_map::make(std::string_view("\0\0\0\0", 4)).error().code, fault::malformed);
}

TEST(character_map, no_damage_reads_outside) {
  std::string damaged = blob();
  std::size_t walked = 0;
  for (std::size_t at = 4; at < damaged.size(); at += 3) {
    const char kept = damaged[at];
    damaged[at] = static_cast<char>(~kept);
    const auto map = character_map::make(damaged);
    if (map) {
      mapped(map.value(), "\uff21x\u3000e\u0301", true);
      mapped(map.value(), "\uff21x\u3000e\u0301", false);
      ++walked;
    }
    damaged[at] = kept;
  }
  EXPECT_GT(walked, 100u);
}

}  // namespace
}  // namespace infer::tokenize
