// Tests of: One function per algorithm that GGUF files name.
#include "engine/tokenize/gguf_recipe.h"

#include <gtest/gtest.h>

#include "tests/engine/tokenize/small_vocabulary.h"

namespace infer::tokenize {
namespace {

constexpr std::string_view own_json = R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
    {"type": "Split", "pattern": {"Regex": "el|."}, "behavior": "Isolated"},
    {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]},
  "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "ignore_merges": true}})";

TEST(gguf_recipe, an_unknown_rule_uses_the_files_own_expression) {
  small_vocabulary vocabulary({"h e", "e l", "l o"});
  vocabulary.data().pre = "strange";
  EXPECT_EQ(tokenizer::make(vocabulary.data()).error().code, fault::unknown_pre_tokenizer);
  vocabulary.data().tokenizer_json = own_json;
  const auto made = vocabulary.make();
  EXPECT_EQ(shown(*made, made->encode("helo", false)), "h|el|o");
  vocabulary.data().tokenizer_json = "{";
  EXPECT_EQ(tokenizer::make(vocabulary.data()).error().code, fault::malformed);
}

TEST(gguf_recipe, no_rule_is_the_default_one) {
  small_vocabulary vocabulary({"= a"});
  vocabulary.data().pre = "";
  EXPECT_EQ(shown(*vocabulary.make(), vocabulary.make()->encode("=a", false)), "=|a");
}

TEST(gguf_recipe, without_merges_ids_are_ranks) {
  small_vocabulary vocabulary(std::vector<std::string>{});
  for (const char* piece : {"el", "he", "lo", "helo"}) vocabulary.add(piece, token_type::normal);
  const auto made = vocabulary.make();
  EXPECT_EQ(shown(*made, made->encode("helo", false)), "h|el|o");
  EXPECT_EQ(shown(*made, made->encode("heo lo", false)), "he|o| |lo");
}

/// Characters in pairs, bytes by name, spaces as U+2581.
TEST(gguf_recipe, gemma4_merges_characters) {
  vocabulary_data data;
  data.model = "gemma4";
  data.pieces = {"<unk>", "<bos>", "▁", "a", "b", "▁a", "\n", "\n\n", "<0xC3>", "<0xA9>", "ab"};
  data.types.assign(data.pieces.size(), token_type::normal);
  data.types[0] = token_type::unknown;
  data.types[1] = token_type::control;
  data.types[8] = data.types[9] = token_type::byte;
  data.merges = {"▁ a", "\n \n", "a b"};
  data.unk = 0;
  data.bos = 1;
  const auto made = tokenizer::make(data);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(shown(*made.value(), made.value()->encode(" ab\n\nab", false)), " a|b|\n\n|ab");
  EXPECT_EQ(made.value()->encode("é", false), (std::vector<token_id>{8, 9}));
  EXPECT_EQ(made.value()->encode("z", false), std::vector<token_id>{0});
  EXPECT_EQ(made.value()->decode(std::vector<token_id>{5, 8, 9}, false), " aé");
  EXPECT_TRUE(made.value()->adds_bos());
  EXPECT_EQ(made.value()->find(" a"), 5);
}

}  // namespace
}  // namespace infer::tokenize
