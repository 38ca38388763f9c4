// Text from outside in sentences.
#include "engine/formats/quote.h"

#include <gtest/gtest.h>

namespace infer::formats {
namespace {

using namespace std::string_literals;

TEST(Quote, KeepsPlainTextAndUtf8) {
  EXPECT_EQ(quote("blk.0.attn_q.weight"), "\"blk.0.attn_q.weight\"");
  EXPECT_EQ(quote(""), "\"\"");
  EXPECT_EQ(quote("é 漢 🙂"), "\"é 漢 🙂\"");
}

TEST(Quote, EscapesControlBytesAndQuotes) {
  EXPECT_EQ(quote("a\n\t\r\x1b\x7f\0b"s), "\"a\\n\\t\\r\\x1b\\x7f\\x00b\"");
  EXPECT_EQ(quote("\"\\"), "\"\\\"\\\\\"");
}

TEST(Quote, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(quote("\xff"), "\"\\xff\"");
  EXPECT_EQ(quote("\xc3"), "\"\\xc3\"");                    // cut short
  EXPECT_EQ(quote("\xe6\xbc"), "\"\\xe6\\xbc\"");           // cut short
  EXPECT_EQ(quote("\xc0\x80"), "\"\\xc0\\x80\"");           // overlong
  EXPECT_EQ(quote("\xe0\x80\x80"), "\"\\xe0\\x80\\x80\"");  // overlong
  EXPECT_EQ(quote("\xed\xa0\x80"), "\"\\xed\\xa0\\x80\"");  // surrogate
}

TEST(Quote, CutsAtTheEdgeOfACharacter) {
  EXPECT_EQ(quote("abcdef", 6), "\"abcdef\"");
  EXPECT_EQ(quote("abcdef", 5), "\"abcde…\"");
  EXPECT_EQ(quote("a漢b", 3), "\"a…\"");
  EXPECT_EQ(quote("a漢b", 4), "\"a漢…\"");
}

}  // namespace
}  // namespace infer::formats
