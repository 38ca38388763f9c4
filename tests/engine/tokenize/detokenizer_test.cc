// Tests of: The incremental detokenizer.
#include "engine/tokenize/detokenizer.h"

#include <gtest/gtest.h>

#include "engine/tokenize/utf8.h"

namespace infer::tokenize {
namespace {

TEST(detokenizer, never_gives_half_a_character) {
  detokenizer stream;
  EXPECT_EQ(stream.push("a\xF0\x9F"), "a");
  EXPECT_EQ(stream.push("\x98"), "");
  EXPECT_EQ(stream.push("\x80"
                        "b"),
            "\xF0\x9F\x98\x80"
            "b");
  EXPECT_EQ(stream.flush(), "");
}

TEST(detokenizer, replaces_ill_formed_bytes_when_they_are_known_to_be) {
  detokenizer stream;
  EXPECT_EQ(stream.push("\xE2\x82"), "");
  EXPECT_EQ(stream.push("x"), "\xEF\xBF\xBDx");
  EXPECT_EQ(stream.push("\xFF"), "\xEF\xBF\xBD");
}

TEST(detokenizer, an_incomplete_tail_becomes_one_replacement) {
  detokenizer stream;
  EXPECT_EQ(stream.push("\xF0\x9F\x98"), "");
  EXPECT_EQ(stream.held().size(), 3u);
  EXPECT_EQ(stream.flush(), "\xEF\xBF\xBD");
  EXPECT_EQ(stream.push("ok"), "ok");
}

TEST(detokenizer, any_cut_gives_the_same_text) {
  const std::string bytes = "h\xC3\xA9\xF0\x9F\x98\x80\xED\xA0\x80\xE2\x82z\xC0\xAF\xF4\x90\xE2";
  detokenizer once;
  std::string whole = once.push(bytes);
  whole += once.flush();
  EXPECT_TRUE(utf8_valid(whole));
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    for (std::size_t second = first; second <= bytes.size(); ++second) {
      detokenizer stream;
      std::string text = stream.push(bytes.substr(0, first));
      text += stream.push(bytes.substr(first, second - first));
      text += stream.push(bytes.substr(second));
      text += stream.flush();
      EXPECT_EQ(text, whole) << first << " " << second;
    }
  }
}

}  // namespace
}  // namespace infer::tokenize
