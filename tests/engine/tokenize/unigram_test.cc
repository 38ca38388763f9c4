// Tests of: Viterbi's search over a trie of pieces.
#include "engine/tokenize/unigram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/tokenize/character_map_builder.h"
#include "tests/engine/tokenize/small_vocabulary.h"

namespace infer::tokenize {
namespace {

/// Token 0 is <unk>, 1 is </s> (control), 2 is <u> (user-defined); then the pieces with their scores.
struct likely {
  explicit likely(std::vector<std::pair<std::string, float>> list) : pieces(std::move(list)) {
    data.model = "t5";
    data.unk = 0;
    data.eos = 1;
    const auto add = [&](std::string_view piece, token_type type, float score) {
      data.pieces.push_back(piece);
      data.types.push_back(type);
      data.scores.push_back(score);
    };
    add("<unk>", token_type::unknown, 0);
    add("</s>", token_type::control, 0);
    add("<u>", token_type::user_defined, -5);
    for (const auto& [piece, score] : pieces) add(piece, token_type::normal, score);
  }
  std::string shown_of(std::string_view text) const {
    const auto made = tokenizer::make(data).value();
    return shown(*made, made->encode(text, true));
  }

  std::vector<std::pair<std::string, float>> pieces;
  vocabulary_data data;
};

const std::vector<std::pair<std::string, float>> letters = {{"a", -1}, {"b", -2}, {"ab", -2.5}, {"abb", -6}, {"▁", -3}};

TEST(unigram, takes_the_likeliest_pieces) {
  EXPECT_EQ(likely(letters).shown_of("abb"), "ab|b");  // -4.5, not -5 nor -6
  EXPECT_EQ(likely(letters).shown_of("aab"), "a|ab");
  EXPECT_EQ(likely(letters).shown_of("a b"), "a| |b");
}

TEST(unigram, unknown_neighbours_are_one_token) {
  EXPECT_EQ(likely(letters).shown_of("axyb"), "a|<unk>|b");
  EXPECT_EQ(likely(letters).shown_of("x<u>y"), "<unk>|<u>|<unk>");
}

TEST(unigram, normalizes_as_the_file_says) {
  likely vocabulary(letters);
  vocabulary.data.remove_extra_spaces = true;
  EXPECT_EQ(vocabulary.shown_of("  a   b "), " |a| |b");
  vocabulary.data.character_map = character_map_builder::build({{"A", "a"}});
  EXPECT_EQ(vocabulary.shown_of("Ab"), " |ab");
  const auto made = tokenizer::make(vocabulary.data).value();
  EXPECT_EQ(made->decode(made->encode("a b", true), true), "a b");
  EXPECT_EQ(made->encode("a", true, {.add_special = true}).back(), 1);
}

TEST(unigram, scores_that_are_none_are_refused) {
  likely vocabulary(letters);
  vocabulary.data.scores.pop_back();
  EXPECT_EQ(tokenizer::make(vocabulary.data).error().code, fault::malformed);
  vocabulary.data.scores.push_back(std::nanf(""));
  EXPECT_EQ(tokenizer::make(vocabulary.data).error().code, fault::malformed);
}

TEST(unigram, a_megabyte_of_one_letter_encodes) {
  const likely vocabulary({{"a", -1}, {"aa", -1.5}, {"aaaa", -2}});
  const auto made = tokenizer::make(vocabulary.data).value();
  EXPECT_EQ(made->encode(std::string(1 << 20, 'a'), true).size(), std::size_t{1} << 18);
}

}  // namespace
}  // namespace infer::tokenize
