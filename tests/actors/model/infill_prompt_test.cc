// Prompts for what stands between two texts, for vocabularies that mark the parts and one that does not.
#include "actors/model/infill_prompt.h"

#include <gtest/gtest.h>

#include "tests/support/byte_pieces.h"

namespace infer::actors {
namespace {

/// One token for each byte, then `marks` as control tokens.
std::shared_ptr<const tokenize::tokenizer> vocabulary_with(const std::vector<std::string>& marks,
                                                           const tokenize::infill_marks& named = {}) {
  std::vector<std::string> texts = test_support::byte_pieces();
  texts.insert(texts.end(), marks.begin(), marks.end());
  tokenize::vocabulary_data data;
  data.model = tokenize::byte_level_model;
  data.pre = "gpt-2";
  data.pieces.assign(texts.begin(), texts.end());
  data.types.assign(256, tokenize::token_type::normal);
  data.types.resize(texts.size(), tokenize::token_type::control);
  data.infill = named;
  return tokenize::tokenizer::make(data).value();
}

std::string shown(const tokenize::tokenizer& vocabulary, const msg::prompt& prompt) {
  const auto ids = infill_ids(vocabulary, prompt);
  std::string out;
  for (const token_id id : ids.value_or(std::vector<token_id>{})) out += vocabulary.bytes_of(id);
  return out;
}

msg::prompt both_sides() {
  msg::prompt prompt;
  prompt.kind = msg::prompt_kind::infill;
  prompt.text = "def f(";
  prompt.suffix = "return <|fim_middle|>";
  return prompt;
}

TEST(infill, puts_the_parts_behind_their_tokens) {
  const auto vocabulary = vocabulary_with({"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"});
  EXPECT_EQ(shown(*vocabulary, both_sides()), "<|fim_prefix|>def f(<|fim_suffix|>return <|fim_middle|><|fim_middle|>");
  const auto ids = infill_ids(*vocabulary, both_sides()).value();
  EXPECT_EQ(ids.size(), 3u + 6 + 21) << "what users write is no control token";
}

TEST(infill, shows_other_files_first) {
  auto prompt = both_sides();
  prompt.suffix = "x";
  prompt.files = {{"a.h", "A"}, {"b.h", "B"}};
  const auto vocabulary =
      vocabulary_with({"<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<|file_sep|>", "<|repo_name|>"});
  EXPECT_EQ(shown(*vocabulary, prompt),
            "<|repo_name|>repository\n<|file_sep|>a.h\nA<|file_sep|>b.h\nB<|file_sep|>filename\n"
            "<fim_prefix>def f(<fim_suffix>x<fim_middle>");
  const auto plain = vocabulary_with({"<PRE>", "<SUF>", "<MID>"});
  EXPECT_EQ(shown(*plain, prompt), "\n\nA\n\nB<PRE>def f(<SUF>x<MID>");
}

TEST(infill, believes_the_file_about_which_tokens_they_are) {
  const std::vector<std::string> marks{"<|before|>", "<|behind|>", "<|between|>", "<|fim_prefix|>", "<|new_file|>"};
  auto prompt = both_sides();
  prompt.suffix = "x";
  prompt.files = {{"a.h", "A"}};
  EXPECT_EQ(shown(*vocabulary_with(marks, {.prefix = 256, .suffix = 257, .middle = 258, .file = 260}), prompt),
            "<|new_file|>a.h\nA<|new_file|>filename\n<|before|>def f(<|behind|>x<|between|>");
  EXPECT_FALSE(infill_ids(*vocabulary_with(marks, {.prefix = 256, .suffix = 257}), prompt));
}

TEST(infill, needs_a_vocabulary_that_was_made_for_it) {
  EXPECT_FALSE(infill_ids(*vocabulary_with({}), both_sides()));
  EXPECT_FALSE(infill_ids(*vocabulary_with({"<|fim_prefix|>", "<|fim_suffix|>"}), both_sides()));
}

}  // namespace
}  // namespace infer::actors
