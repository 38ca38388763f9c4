// Joining by score: order, fallbacks, spaces; and the ids of another implementation for hard strings.
#include "engine/tokenize/scored.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <fstream>
#include <limits>

#include "engine/formats/gguf.h"
#include "tests/engine/tokenize/small_vocabulary.h"

namespace infer::tokenize {
namespace {

constexpr token_id unknown = 0, control = 1, user_defined = 2, first_byte = 3;

/// Tokens 0..2 are <unk>, <c> (control) and <u> (user-defined); then byte tokens, then pieces whose scores fall.
class scored_vocabulary {
 public:
  explicit scored_vocabulary(std::vector<std::string> pieces, bool byte_tokens = true, bool space_prefix = false)
      : pieces_(std::move(pieces)) {
    data_.model = "llama";
    data_.unk = unknown;
    data_.bos = control;
    data_.add_space_prefix = space_prefix;
    const auto add = [&](std::string_view piece, token_type type, float score) {
      data_.pieces.push_back(piece);
      data_.types.push_back(type);
      data_.scores.push_back(score);
    };
    add("<unk>", token_type::unknown, -1000);
    add("<c>", token_type::control, -1000);
    add("<u>", token_type::user_defined, -1000);
    if (byte_tokens) {
      for (int byte = 0; byte < 256; ++byte) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
        bytes_.emplace_back(name);
      }
    }
    for (const std::string& name : bytes_) add(name, token_type::byte, -1000);
    for (std::size_t i = 0; i < pieces_.size(); ++i) add(pieces_[i], token_type::normal, -static_cast<float>(i));
  }
  scored_vocabulary(const scored_vocabulary&) = delete;
  scored_vocabulary& operator=(const scored_vocabulary&) = delete;

  vocabulary_data& data() { return data_; }
  std::shared_ptr<const tokenizer> make() const { return tokenizer::make(data_).value(); }
  std::string shown_of(std::string_view text, bool parse_special = false) const {
    const auto made = make();
    return shown(*made, made->encode(text, parse_special));
  }

 private:
  std::vector<std::string> pieces_;
  std::deque<std::string> bytes_;
  vocabulary_data data_;
};

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
