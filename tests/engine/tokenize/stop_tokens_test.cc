// Tests of: The table of well-known end texts and its two exceptions.
#include "engine/tokenize/stop_tokens.h"

#include <gtest/gtest.h>

namespace infer::tokenize {
namespace {

vocabulary_data with(std::vector<std::string_view> pieces) {
  vocabulary_data data;
  data.types.assign(pieces.size(), token_type::control);
  data.pieces = std::move(pieces);
  return data;
}

using ids = std::vector<token_id>;

TEST(stop_tokens, are_the_named_ids_and_the_well_known_texts) {
  auto data = with({"<|endoftext|>", "<|im_start|>", "<|im_end|>", "x", "y"});
  data.eos = 2;
  data.eot = 3;
  data.more_stops = {4, 77, -1};
  EXPECT_EQ(stop_tokens(data), (ids{0, 2, 3, 4}));
}

TEST(stop_tokens, an_ordinary_token_with_a_well_known_text_is_none) {
  auto data = with({"</s>", "</s>"});
  data.types[0] = token_type::normal;
  EXPECT_EQ(stop_tokens(data), ids{1});
}

TEST(stop_tokens, separators_of_infill_prompts_end_an_answer) {
  EXPECT_EQ(stop_tokens(with({"<|fim_prefix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<reponame>"})),
            (ids{1, 2, 3, 4}));
  auto named = with({"<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "a", "b", "c"});
  named.infill.padding = 3;
  named.infill.repository = 4;
  named.infill.file = 5;
  EXPECT_EQ(stop_tokens(named), (ids{3, 4, 5}));
  auto ordinary = with({"<|file_sep|>"});
  ordinary.types[0] = token_type::normal;
  EXPECT_EQ(stop_tokens(ordinary), ids{});
}

TEST(stop_tokens, harmony_does_not_stop_at_end) {
  EXPECT_EQ(stop_tokens(with({"<|end|>", "<|return|>", "<|call|>"})), (ids{1, 2}));
  EXPECT_EQ(stop_tokens(with({"<|end|>", "<|return|>", "x"})), (ids{0, 1}));
}

TEST(stop_tokens, a_vocabulary_with_tool_responses_does_not_stop_at_slash_s) {
  EXPECT_EQ(stop_tokens(with({"</s>", "<|tool_response>", "<turn|>"})), (ids{1, 2}));
}

}  // namespace
}  // namespace infer::tokenize
