// Tests of: The byte alphabet as two tables made at first use.
#include "engine/tokenize/byte_alphabet.h"

#include <gtest/gtest.h>

#include <set>

namespace infer::tokenize {
namespace {

TEST(byte_alphabet, knows_the_published_letters) {
  EXPECT_EQ(byte_to_letter(' '), U'\u0120');
  EXPECT_EQ(byte_to_letter('\n'), U'\u010A');
  EXPECT_EQ(byte_to_letter('A'), U'A');
  EXPECT_EQ(byte_to_letter(0x00), U'\u0100');
  EXPECT_EQ(byte_to_letter(0xAD), U'\u0143');
  EXPECT_EQ(byte_to_letter(0xFF), U'\u00FF');
}

TEST(byte_alphabet, is_one_to_one) {
  std::set<char32_t> letters;
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    letters.insert(byte_to_letter(static_cast<std::uint8_t>(byte)));
    all.push_back(static_cast<char>(byte));
  }
  EXPECT_EQ(letters.size(), 256u);
  EXPECT_EQ(letters_to_bytes(bytes_to_letters(all)), all);
}

TEST(byte_alphabet, refuses_characters_outside) {
  EXPECT_EQ(letters_to_bytes("a b"), std::nullopt);           // a real space is no letter
  EXPECT_EQ(letters_to_bytes("\xC5\x84"), std::nullopt);      // U+0144, one past the last letter
  EXPECT_EQ(letters_to_bytes("\xE2\x96\x81"), std::nullopt);  // U+2581
  EXPECT_EQ(letters_to_bytes("\xC4"), std::nullopt);          // cut off
}

}  // namespace
}  // namespace infer::tokenize
