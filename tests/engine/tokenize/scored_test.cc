// Joining by score: order, fallbacks, spaces; and the ids of another implementation for hard strings.
#include "engine/tokenize/scored.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <fstream>
#include <limits>

#include "engine/formats/gguf.h"
#include "tests/engine/tokenize/scored_vocabulary.h"

namespace infer::tokenize {
namespace {

TEST(scored, joins_the_best_score_first_and_the_leftmost_of_equals) {
  EXPECT_EQ(scored_vocabulary({"bc", "ab", "a", "b", "c"}).shown_of("abc"), "a|bc");
  EXPECT_EQ(scored_vocabulary({"ab", "bc", "a", "b", "c"}).shown_of("abc"), "ab|c");
  EXPECT_EQ(scored_vocabulary({"aa", "a"}).shown_of("aaaaa"), "aa|aa|a");
  EXPECT_EQ(scored_vocabulary({"abcd", "cd", "ab", "a", "b", "c", "d"}).shown_of("abcdab"), "abcd|ab");
  // A piece that no chain of joins reaches is not found.
  EXPECT_EQ(scored_vocabulary({"abc", "a", "b", "c"}).shown_of("abc"), "a|b|c");
}

TEST(scored, spaces_are_written_as_u2581) {
  const scored_vocabulary v(
      {"\xE2\x96\x81"
       "b",
       "\xE2\x96\x81", "a", "b"});
  EXPECT_EQ(v.shown_of("a b"), "a| b");
  EXPECT_EQ(v.shown_of("a\xE2\x96\x81"
                       "b"),
            "a| b");
  EXPECT_EQ(v.make()->decode(v.make()->encode("a b  b", false), false), "a b  b");
}

TEST(scored, what_no_piece_writes_is_written_byte_by_byte) {
  const scored_vocabulary v({"a"});
  EXPECT_EQ(v.make()->encode("a\xC3\xA9", false),
            (std::vector<token_id>{first_byte + 256, first_byte + 0xC3, first_byte + 0xA9}));
  EXPECT_EQ(v.make()->decode(v.make()->encode("a\xC3\xA9", false), false), "a\xC3\xA9");
  EXPECT_EQ(scored_vocabulary({"a"}, false).make()->encode("ab", false), (std::vector<token_id>{3, unknown}));
}

TEST(scored, special_texts_are_cut_out_and_never_joined) {
  const scored_vocabulary v({"<u", "<", "u", ">", "c", "a"});
  EXPECT_EQ(v.make()->encode("a<u>a", false), (std::vector<token_id>{264, user_defined, 264}));
  EXPECT_EQ(v.make()->encode("<c><unk>", true), (std::vector<token_id>{control, unknown}));
  EXPECT_EQ(v.shown_of("<c>"), "<|c|>");
}

TEST(scored, a_space_goes_before_each_stretch_where_the_vocabulary_says_so) {
  const scored_vocabulary v({"\xE2\x96\x81"
                             "a",
                             "\xE2\x96\x81", "a"},
                            true, true);
  EXPECT_EQ(v.shown_of("a<u>a"), " a|<u>| a");
  EXPECT_EQ(v.make()->decode(v.make()->encode("a a", false), false), "a a");
}

TEST(scored, adds_bos_unless_told_otherwise) {
  scored_vocabulary v({"a"});
  EXPECT_TRUE(v.make()->adds_bos());
  v.data().add_bos = false;
  EXPECT_FALSE(v.make()->adds_bos());
}

TEST(scored, refuses_scores_that_are_missing_or_not_numbers) {
  scored_vocabulary v({"a"});
  v.data().scores.back() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(tokenizer::make(v.data()).error().code, fault::malformed);
  v.data().scores.pop_back();
  EXPECT_EQ(tokenizer::make(v.data()).error().code, fault::malformed);
}

TEST(scored, long_texts_take_linear_time_but_for_the_heap) {
  const scored_vocabulary v({"aaaa", "aa", "a"});
  EXPECT_EQ(v.make()->encode(std::string(1 << 20, 'a'), false).size(), 1u << 18);
}

std::vector<token_id> ids_of(const boost::json::value& value) {
  std::vector<token_id> ids;
  for (const auto& id : value.as_array()) ids.push_back(static_cast<token_id>(id.as_int64()));
  return ids;
}

TEST(scored, gives_the_ids_of_another_implementation) {
  auto file = formats::gguf_file::open("tests/golden/scored_tokenizer/vocabulary.gguf");
  ASSERT_TRUE(file) << file.error().message();
  const auto data = read_vocabulary(file.value().keys());
  ASSERT_TRUE(data) << data.error().message();
  const auto made = tokenizer::make(data.value()).value();
  std::ifstream lines("tests/golden/scored_tokenizer/strings.jsonl");
  std::size_t strings = 0;
  for (std::string line; std::getline(lines, line); ++strings) {
    const auto row = boost::json::parse(line).as_object();
    const auto& text = row.at("t").as_string();
    const auto plain = ids_of(row.at("p"));
    const auto got = made->encode(text, false);
    EXPECT_EQ(got, plain) << line << "\n" << shown(*made, got) << "\n" << shown(*made, plain);
    EXPECT_EQ(made->encode(text, true), row.contains("s") ? ids_of(row.at("s")) : plain) << line;
    std::string spaced;
    append_with_spaces(text, spaced);
    EXPECT_EQ(made->decode(got, false), spaced) << line;
  }
  EXPECT_EQ(strings, 600u);
}

}  // namespace
}  // namespace infer::tokenize
