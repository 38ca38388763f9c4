// Tests of: Unicode's tables from utf8proc.
#include "engine/tokenize/unicode.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <memory>

namespace infer::tokenize {
namespace {

std::string formed(std::string_view text, normal_form form) {
  std::string out;
  append_normalized(text, form, out);
  return out;
}

TEST(unicode, steps_over_characters_from_both_ends) {
  std::size_t length = 0;
  EXPECT_EQ(first_character("a", length), U'a');
  EXPECT_EQ(length, 1u);
  EXPECT_EQ(first_character("\U0001F600x", length), U'\U0001F600');
  EXPECT_EQ(length, 4u);
  EXPECT_EQ(last_length("x\u00e9"), 2u);
  EXPECT_EQ(last_length("\u4e2dx"), 1u);
}

TEST(unicode, classes) {
  for (const char32_t space : {U' ', U'\t', U'\u0085', U'\u3000', U'\u2028'}) EXPECT_TRUE(is_space(space));
  for (const char32_t other : {U'\u180e', U'\u200b', U'a', U'\x1f'}) EXPECT_FALSE(is_space(other));
  for (const char32_t word : {U'a', U'_', U'9', U'\u0301', U'\u2160', U'\u24b6', U'\u200d'}) EXPECT_TRUE(is_word(word));
  for (const char32_t other : {U'-', U' ', U'\u00bd', U'\u20ac'}) EXPECT_FALSE(is_word(other));
}

TEST(unicode, normal_forms_equal_those_of_the_library) {
  const std::string text = "A\u030a \u1e9b\u0323 \uac01 e\u0316\u0301\u0323 \ufb01\u2460 \u0344 \u212b";
  const auto theirs = [&](utf8proc_option_t options) {
    utf8proc_uint8_t* made = nullptr;
    utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                 &made, static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(made, &std::free);
    return std::string(reinterpret_cast<const char*>(made));
  };
  EXPECT_EQ(formed(text, normal_form::nfc), theirs(UTF8PROC_COMPOSE));
  EXPECT_EQ(formed(text, normal_form::nfd), theirs(UTF8PROC_DECOMPOSE));
  const auto compatible = [](int option) { return static_cast<utf8proc_option_t>(option | UTF8PROC_COMPAT); };
  EXPECT_EQ(formed(text, normal_form::nfkc), theirs(compatible(UTF8PROC_COMPOSE)));
  EXPECT_EQ(formed(text, normal_form::nfkd), theirs(compatible(UTF8PROC_DECOMPOSE)));
}

TEST(unicode, a_megabyte_of_marks_in_the_wrong_order_is_put_in_order) {
  std::string text = "a";
  for (int i = 0; i < 250'000; ++i) text += "\u0301\u0323";
  const std::string ordered = formed(text, normal_form::nfd);
  EXPECT_EQ(ordered.size(), text.size());
  EXPECT_TRUE(ordered.starts_with("a\u0323\u0323"));
  EXPECT_TRUE(ordered.ends_with("\u0301\u0301"));
}

TEST(unicode, graphemes_are_whole) {
  EXPECT_EQ(grapheme_length("e\u0301x"), 3u);
  EXPECT_EQ(grapheme_length("ab"), 1u);
  EXPECT_EQ(grapheme_length("\r\nx"), 2u);
}

}  // namespace
}  // namespace infer::tokenize
