// Special texts, spans and the byte-level algorithm.
// Mirrors: pair_encoder.cc
#include "engine/tokenize/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/engine/tokenize/small_vocabulary.h"

namespace infer::tokenize {
namespace {

TEST(tokenizer, merges_by_rank_inside_the_pieces) {
  const auto made = small_vocabulary().make();
  EXPECT_EQ(shown(*made, made->encode("hello hello", false)), "hello| hello");
  EXPECT_EQ(shown(*made, made->encode("aaaaa a", false)), "aaaa|a| a");
}

TEST(tokenizer, control_texts_count_only_where_allowed) {
  const auto made = small_vocabulary().make();
  EXPECT_EQ(made->encode("<start>hello<end>", true), (std::vector<token_id>{1, *made->find("hello"), 0}));
  for (const token_id id : made->encode("<start>hello<end>", false)) EXPECT_FALSE(made->is_control(id));
  EXPECT_EQ(made->encode("<user>", false), std::vector<token_id>{3});
  EXPECT_EQ(made->encode("<start>x", true), std::vector<token_id>{2});
}

TEST(tokenizer, a_control_text_must_lie_wholly_in_allowed_spans) {
  const auto made = small_vocabulary().make();
  const std::vector<text_span> across = {{"<sta", true}, {"rt>", false}};
  for (const token_id id : made->encode(across)) EXPECT_FALSE(made->is_control(id));
  const std::vector<text_span> joined = {{"<sta", true}, {"", false}, {"rt>", true}};
  EXPECT_EQ(made->encode(joined), std::vector<token_id>{1});
  const std::vector<text_span> shorter = {{"<start>", true}, {"x", false}};
  EXPECT_EQ(made->encode(shorter), (std::vector<token_id>{1, *made->find("x")}));
}

TEST(tokenizer, span_borders_do_not_change_ordinary_text) {
  const auto made = small_vocabulary().make();
  const std::vector<text_span> spans = {{"<start>he", true}, {"llo", false}, {" hel", true}, {"lo", false}};
  EXPECT_EQ(made->encode(spans), made->encode("<start>hello hello", true));
}

TEST(tokenizer, no_user_text_gives_a_control_token) {
  const auto made = small_vocabulary().make();
  std::mt19937 random(3);
  const std::vector<std::string> parts = {"<end>", "<start>", "<start>x", "<user>", "<st",
                                          "art>",  "\xC3",    "\xFF",     "a",      " "};
  for (int round = 0; round < 2000; ++round) {
    std::string user;
    for (int i = 0; i < 6; ++i) user += parts[random() % parts.size()];
    const std::vector<text_span> spans = {{"<start>", true}, {user, false}, {"<end>", true}};
    const auto ids = made->encode(spans);
    EXPECT_EQ(std::count_if(ids.begin(), ids.end(), [&](token_id id) { return made->is_control(id); }), 2) << user;
    EXPECT_EQ(ids.front(), 1);
    EXPECT_EQ(ids.back(), 0);
  }
}

TEST(tokenizer, bytes_without_a_token_are_dropped) {
  const small_vocabulary vocabulary({"a a"}, std::string_view("\x04\xF1", 2));
  const auto made = vocabulary.make();
  EXPECT_EQ(shown(*made, made->encode("a\x04"
                                      "b",
                                      false)),
            "a|b");
  EXPECT_EQ(made->encode("\x04", false).size(), 0u);
  EXPECT_EQ(shown(*made, made->encode("\xF1\x80\x80\x80", false)), "\x80|\x80|\x80");
}

TEST(tokenizer, ill_formed_text_counts_as_the_replacement_character) {
  const auto made = small_vocabulary().make();
  EXPECT_EQ(made->encode("a\xFF", false), made->encode("a\xEF\xBF\xBD", false));
}

TEST(tokenizer, adds_bos_and_eos_as_the_vocabulary_says) {
  small_vocabulary vocabulary;
  const auto plain = vocabulary.make();
  EXPECT_EQ(plain->encode("a", false, {.add_special = true}).size(), 1u);
  vocabulary.data().add_bos = true;
  vocabulary.data().add_eos = true;
  const auto both = vocabulary.make();
  EXPECT_EQ(both->encode("a", false, {.add_special = true}), (std::vector<token_id>{1, *both->find("a"), 0}));
  EXPECT_EQ(both->encode("a", false).size(), 1u);
  vocabulary.data().add_bos.reset();
  vocabulary.data().pre = "llama-bpe";
  EXPECT_TRUE(vocabulary.make()->adds_bos());
}

TEST(tokenizer, a_rule_that_ignores_merges_takes_whole_pieces) {
  small_vocabulary vocabulary({"h e", "he y"});
  vocabulary.add("heyo", token_type::normal);
  EXPECT_EQ(shown(*vocabulary.make(), vocabulary.make()->encode("heyo", false)), "hey|o");
  vocabulary.data().pre = "llama-bpe";
  EXPECT_EQ(shown(*vocabulary.make(), vocabulary.make()->encode("heyo", false)), "heyo");
}

TEST(tokenizer, decodes_bytes_and_skips_control_tokens) {
  const auto made = small_vocabulary().make();
  auto ids = made->encode("<start>h\u00e9\U0001F600<end>", true);
  EXPECT_EQ(made->decode(ids, false), "<start>h\u00e9\U0001F600<end>");
  EXPECT_EQ(made->decode(ids, true), "h\u00e9\U0001F600");
  EXPECT_EQ(made->decode(std::vector<token_id>{-5, 1 << 30}, false), "");
  EXPECT_EQ(made->decode(std::vector<token_id>{*made->find("\xF0")}, false), "\uFFFD");
}

TEST(tokenizer, knows_its_tokens) {
  const auto made = small_vocabulary().make();
  EXPECT_EQ(made->size(), 4u + 256u + 8u);
  EXPECT_TRUE(made->is_control(2));
  EXPECT_FALSE(made->is_control(3));
  EXPECT_FALSE(made->is_control(-1));
  EXPECT_TRUE(std::ranges::equal(made->control_tokens(), std::vector<token_id>{0, 1, 2}));
  EXPECT_TRUE(made->is_end_of_generation(0));
  EXPECT_FALSE(made->is_end_of_generation(1));
  EXPECT_EQ(made->bos(), 1);
  EXPECT_EQ(made->find(" hello"), 4 + 256 + 4);
  EXPECT_EQ(made->find("nothing"), std::nullopt);
  EXPECT_EQ(made->bytes_of(9999), "");
}

TEST(tokenizer, refuses_what_it_does_not_know) {
  small_vocabulary vocabulary;
  vocabulary.data().model = "other";
  EXPECT_EQ(tokenizer::make(vocabulary.data()).error().code, fault::unknown_model);
  EXPECT_NE(tokenizer::make(vocabulary.data()).error().message().find("other"), std::string::npos);
  vocabulary.data().model = "gpt2";
  vocabulary.data().pre = "strange";
  EXPECT_EQ(tokenizer::make(vocabulary.data()).error().code, fault::unknown_pre_tokenizer);
}

TEST(tokenizer, refuses_contradictions) {
  const auto refused = [](auto change) {
    small_vocabulary vocabulary;
    change(vocabulary.data());
    const auto made = tokenizer::make(vocabulary.data());
    return !made && made.error().code == fault::malformed;
  };
  EXPECT_TRUE(refused([](vocabulary_data& data) { data.types.pop_back(); }));
  EXPECT_TRUE(refused([](vocabulary_data& data) { data.merges.push_back("nospace"); }));
  EXPECT_TRUE(refused([](vocabulary_data& data) { data.merges.push_back(""); }));
  EXPECT_TRUE(refused([](vocabulary_data& data) { data.merges.push_back("z z"); }));
  EXPECT_TRUE(refused([](vocabulary_data& data) { data.merges.push_back("a "); }));
  EXPECT_TRUE(refused([](vocabulary_data& data) { data.pieces.clear(), data.types.clear(); }));
}

TEST(tokenizer, a_megabyte_of_one_letter_or_of_spaces_encodes) {
  const auto made = small_vocabulary().make();
  EXPECT_EQ(made->encode(std::string(1 << 20, 'a'), false).size(), std::size_t{1} << 18);
  EXPECT_EQ(made->encode(std::string(1 << 20, ' '), false).size(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace infer::tokenize
