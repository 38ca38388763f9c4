// Tests of: Concatenation and repair of typed spans.
#include "engine/tokenize/span_text.h"

#include <gtest/gtest.h>

namespace infer::tokenize {
namespace {

TEST(span_text, joins_and_remembers_where_control_tokens_may_be) {
  const std::vector<text_span> spans = {{"ab", true}, {"c", true}, {"", false}, {"de", false}, {"", true}, {"f", true}};
  span_text joined(spans);
  EXPECT_EQ(joined.text(), "abcdef");
  EXPECT_EQ(joined.allowed_end(0), 3u);
  EXPECT_EQ(joined.allowed_end(2), 3u);
  EXPECT_EQ(joined.allowed_end(3), 3u);
  EXPECT_EQ(joined.allowed_end(4), 4u);
  EXPECT_EQ(joined.allowed_end(5), 6u);
}

TEST(span_text, replaces_ill_formed_bytes_and_moves_the_stretches) {
  const std::vector<text_span> spans = {{"a\xFF", false}, {"bc", true}, {"\xE2\x82", false}, {"d", true}};
  span_text joined(spans);
  EXPECT_EQ(joined.text(),
            "a\xEF\xBF\xBD"
            "bc\xEF\xBF\xBD"
            "d");
  EXPECT_EQ(joined.allowed_end(0), 0u);
  EXPECT_EQ(joined.allowed_end(4), 6u);
  EXPECT_EQ(joined.allowed_end(6), 6u);
  EXPECT_EQ(joined.allowed_end(9), 10u);
}

TEST(span_text, a_character_across_a_border_is_whole_but_not_allowed) {
  const std::vector<text_span> spans = {{"x\xC3", true}, {"\xA9\xFF", false}};
  span_text joined(spans);
  EXPECT_EQ(joined.text(), "x\xC3\xA9\xEF\xBF\xBD");
  EXPECT_EQ(joined.allowed_end(0), 1u);
  EXPECT_EQ(joined.allowed_end(1), 1u);
}

}  // namespace
}  // namespace infer::tokenize
