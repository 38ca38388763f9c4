// The reader of tokenizer.json and the steps it knows.
// Mirrors: recipe_json.cc, json_fields.cc, decoding.cc
#include "engine/tokenize/tokenizer_json.h"

#include <gtest/gtest.h>

#include "engine/tokenize/decoding.h"
#include "engine/tokenize/detokenizer.h"
#include "engine/tokenize/tokenizer.h"
#include "tests/engine/tokenize/small_vocabulary.h"

namespace infer::tokenize {
namespace {

/// A tokenizer.json of parts; empty parts are left out.
struct parts {
  std::string normalizer, pre_tokenizer, post_processor, decoder = R"({"type": "ByteLevel"})";
  std::string added = R"({"id": 9, "content": "<s>", "special": true}, {"id": 10, "content": "<u>"})";
  std::string model = R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "Ġ": 3, "ab": 4, "Ġa": 5, "Ã": 6, "©": 7,
                         "Ã©": 8}, "merges": ["a b", ["Ġ", "a"], "Ã ©"]})";

  std::string text() const {
    std::string made = R"({"added_tokens": [)" + added + "]";
    const auto add = [&](const char* key, const std::string& value) {
      if (!value.empty()) made.append(", \"").append(key).append("\": ").append(value);
    };
    add("normalizer", normalizer);
    add("pre_tokenizer", pre_tokenizer);
    add("post_processor", post_processor);
    add("decoder", decoder);
    add("model", model);
    return made + "}";
  }
  std::shared_ptr<const tokenizer> make(std::string_view config = {}, std::string_view generation = {}) const {
    const auto file = read_tokenizer_json(text(), config, generation);
    EXPECT_TRUE(file) << (file ? "" : file.error().message());
    if (!file) return nullptr;
    auto made = tokenizer::make(file.value().data);
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    return made ? made.value() : nullptr;
  }
  error refusal() const {
    const auto file = read_tokenizer_json(text());
    if (!file) return file.error();
    const auto made = tokenizer::make(file.value().data);
    return made ? error{} : made.error();
  }
  std::string shown_of(std::string_view input, bool parse_special = true) const {
    const auto made = make();
    return made ? shown(*made, made->encode(input, parse_special)) : "nothing";
  }
};

const std::string byte_level = R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": true})";

/// Characters, U+2581 and named bytes, as SentencePiece's vocabularies are written.
parts character_parts() {
  parts made;
  made.model = R"({"type": "BPE", "byte_fallback": true, "unk_token": "?", "fuse_unk": true, "vocab": {"?": 0, "▁": 1,
    "a": 2, "b": 3, "▁a": 4, "▁ab": 5, "<0xC3>": 6, "<0xA9>": 7, "<s>": 8}, "merges": [["▁", "a"], ["▁a", "b"]]})";
  made.normalizer = R"({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]})";
  made.decoder = R"({"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})";
  return made;
}

TEST(tokenizer_json, byte_level_pairs_in_both_spellings) {
  parts made;
  made.pre_tokenizer = byte_level;
  EXPECT_EQ(made.shown_of("ab ab ac"), "ab| |ab| a|c");
  EXPECT_EQ(made.shown_of("<s>é<u>"), "<s>|é|<u>");
  EXPECT_EQ(made.make()->type_of(9), token_type::control);
  EXPECT_EQ(made.make()->type_of(10), token_type::user_defined);
  for (const token_id id : made.make()->encode("<s>", false)) EXPECT_NE(id, 9);
  EXPECT_EQ(made.make()->decode(made.make()->encode("ab é<u>", true), true), "ab é<u>");
}

TEST(tokenizer_json, a_prefix_space_and_a_late_step) {
  parts made;
  made.pre_tokenizer = R"({"type": "ByteLevel"})";
  EXPECT_EQ(made.shown_of("ab"), " |ab");
  made.pre_tokenizer = R"({"type": "Sequence", "pretokenizers": [)" + byte_level +
                       R"(, {"type": "Split", "pattern": {"String": "©"}, "behavior": "Isolated"}]})";
  EXPECT_EQ(made.make()->encode("é", true), (std::vector<token_id>{6, 7}));
}

TEST(tokenizer_json, whole_pieces_where_merges_are_ignored) {
  parts made;
  made.pre_tokenizer = byte_level;
  made.model = R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [], "ignore_merges": true})";
  EXPECT_EQ(made.shown_of("ab"), "ab");
}

TEST(tokenizer_json, characters_with_named_bytes) {
  const parts made = character_parts();
  EXPECT_EQ(made.shown_of("ab ab"), " ab| ab");
  EXPECT_EQ(made.make()->encode("é", true), (std::vector<token_id>{1, 6, 7}));
  EXPECT_EQ(made.make()->encode("axyz", true), (std::vector<token_id>{4, 0}));
  EXPECT_EQ(made.make()->encode("<s>a", true), (std::vector<token_id>{8, 4}));
  EXPECT_EQ(made.make()->decode(std::vector<token_id>{5, 1, 6, 7}, false), "ab é");
  detokenizer stream;
  std::string text;
  for (const token_id id : {5, 1, 6, 7}) text += stream.push(made.make()->bytes_of(id));
  EXPECT_EQ(text, " ab é");
}

TEST(tokenizer_json, metaspace_prepends_always_first_or_never) {
  parts made = character_parts();
  made.normalizer.clear();
  made.decoder = R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"})";
  const auto with = [&](const char* scheme) {
    made.pre_tokenizer =
        std::string(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": ")") + scheme + "\"}";
    return made.shown_of("ab a<u>ab");
  };
  EXPECT_EQ(with("always"), " ab| a|<u>| ab");
  EXPECT_EQ(with("first"), " ab| a|<u>|a|b");
  EXPECT_EQ(with("never"), "a|b| a|<u>|a|b");
  EXPECT_EQ(made.make()->decode(std::vector<token_id>{5, 4}, false), "ab a");
}

TEST(tokenizer_json, unigram) {
  parts made;
  made.added = "";
  made.model = R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1], ["b", -2.0], ["ab", -2.5]]})";
  made.decoder = R"({"type": "Metaspace"})";
  EXPECT_EQ(made.shown_of("abxyb"), "ab|<unk>|b");
}

TEST(tokenizer_json, added_tokens_look_at_their_neighbours) {
  parts made;
  made.pre_tokenizer = byte_level;
  made.added = R"({"id": 9, "content": "<l>", "lstrip": true}, {"id": 10, "content": "<r>", "rstrip": true},
    {"id": 11, "content": "ca", "single_word": true})";
  EXPECT_EQ(made.make()->encode("a  <l> b", true), (std::vector<token_id>{0, 9, 3, 1}));
  EXPECT_EQ(made.make()->encode("a <r>  b", true), (std::vector<token_id>{0, 3, 10, 1}));
  EXPECT_EQ(made.make()->encode("ca bca caé ca", true), (std::vector<token_id>{11, 3, 1, 2, 0, 3, 2, 0, 8, 3, 11}));
}

TEST(tokenizer_json, a_normalized_token_is_found_behind_the_normalizer) {
  parts made;
  made.pre_tokenizer = byte_level;
  made.normalizer = R"({"type": "Lowercase"})";
  made.added = R"({"id": 9, "content": "<X>", "normalized": true, "special": true},
    {"id": 10, "content": "<Y>", "normalized": false})";
  EXPECT_EQ(made.make()->encode("A<x>B<y>", true), (std::vector<token_id>{0, 9, 1}));
  EXPECT_EQ(made.make()->encode("<Y>a", true), (std::vector<token_id>{10, 0}));
  const std::vector<text_span> mixed = {{"<X>", true}, {"<x><X>a", false}};
  EXPECT_EQ(made.make()->encode(mixed), (std::vector<token_id>{9, 0}));
}

TEST(tokenizer_json, chat_frames_are_control_tokens) {
  parts made;
  made.pre_tokenizer = byte_level;
  made.added =
      R"({"id": 9, "content": "<|user|>"}, {"id": 10, "content": "<｜User｜>"}, {"id": 11, "content": "<think>"})";
  EXPECT_TRUE(made.make()->is_control(9));
  EXPECT_TRUE(made.make()->is_control(10));
  EXPECT_FALSE(made.make()->is_control(11));
}

TEST(tokenizer_json, what_stands_around_a_text) {
  parts made;
  made.pre_tokenizer = byte_level;
  const encode_options add{.add_special = true};
  made.post_processor = R"({"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "x"}}],
    "special_tokens": {"<s>": {"ids": [9]}, "x": {"ids": [4, 2]}}}]})";
  EXPECT_EQ(made.make()->encode("a", true, add), (std::vector<token_id>{9, 0, 4, 2}));
  EXPECT_TRUE(made.make()->adds_bos());
  const std::string tokens = R"({"bos_token": {"content": "<u>"}, "eos_token": "<s>", )";
  const auto config = made.make(tokens + R"("add_bos_token": false, "add_eos_token": true})");
  EXPECT_EQ(config->encode("a", true, add), (std::vector<token_id>{9, 0, 4, 2})) << "its class does not heed them";
  EXPECT_EQ(config->bos(), 10);
  EXPECT_EQ(config->eos(), 9);
  const auto around = [&](const std::string& flags) { return made.make(tokens + flags + "}")->encode("a", true, add); };
  EXPECT_EQ(around(R"("add_bos_token": false, "tokenizer_class": "Qwen2Tokenizer")"),
            (std::vector<token_id>{9, 0, 4, 2}));
  EXPECT_EQ(around(R"("add_bos_token": false, "tokenizer_class": "LlamaTokenizerFast")"), (std::vector<token_id>{0}));
  EXPECT_EQ(around(R"("add_eos_token": true, "tokenizer_class": "GemmaTokenizer")"), (std::vector<token_id>{10, 0, 9}));
  EXPECT_EQ(around(R"("tokenizer_class": "LlamaTokenizer")"), (std::vector<token_id>{9, 0, 4, 2}));
  made.post_processor = R"({"type": "RobertaProcessing", "cls": ["<s>", 9], "sep": ["<u>", 10]})";
  EXPECT_EQ(made.make()->encode("a", true, add), (std::vector<token_id>{9, 0, 10}));
}

TEST(tokenizer_json, a_generation_config_names_what_ends) {
  parts made;
  made.pre_tokenizer = byte_level;
  const auto ends = [&](std::string_view generation) {
    const auto with = made.make({}, generation);
    const auto tokens = with->end_tokens();
    return std::vector<token_id>(tokens.begin(), tokens.end());
  };
  EXPECT_EQ(ends(R"({"eos_token_id": [9, 2, 99], "pad_token_id": 3})"), (std::vector<token_id>{2, 9}));
  EXPECT_EQ(ends(R"({"eos_token_id": 4})"), (std::vector<token_id>{4}));
  EXPECT_TRUE(ends("").empty());
}

TEST(tokenizer_json, every_pre_tokenizer_cuts) {
  const auto cut = [](std::string part, std::string_view text) {
    parts made = character_parts();
    made.normalizer.clear();
    made.pre_tokenizer = std::move(part);
    made.model = R"({"type": "BPE", "ignore_merges": true, "unk_token": "?", "merges": [], "vocab": {"?": 0, "a": 1,
      "b": 2, "ab": 3, "12": 4, "1": 5, "2": 6, "!": 7, "!!": 8, " ": 9, "a-": 10, "-b": 11, "-": 12}})";
    made.added = "";
    made.decoder = R"({"type": "Fuse"})";
    return made.shown_of(text);
  };
  EXPECT_EQ(cut(R"({"type": "Digits", "individual_digits": true})", "ab12"), "ab|1|2");
  EXPECT_EQ(cut(R"({"type": "Digits"})", "ab12"), "ab|12");
  EXPECT_EQ(cut(R"({"type": "Whitespace"})", "ab!! 12"), "ab|!!|12");
  EXPECT_EQ(cut(R"({"type": "WhitespaceSplit"})", "ab  12"), "ab|12");
  EXPECT_EQ(cut(R"({"type": "BertPreTokenizer"})", "ab!! 12"), "ab|!|!|12");
  EXPECT_EQ(cut(R"({"type": "UnicodeScripts"})", " ab 12"), "a|b| |12");
  EXPECT_EQ(cut(R"({"type": "Punctuation", "behavior": "Contiguous"})", "ab!!"), "ab|!!");
  EXPECT_EQ(cut(R"({"type": "CharDelimiterSplit", "delimiter": "!"})", "ab!12"), "ab|12");
  const auto dash = [&](const std::string& behavior) {
    return cut(R"({"type": "Split", "pattern": {"String": "-"}, "behavior": ")" + behavior + "\"}", "a-b");
  };
  EXPECT_EQ(dash("Isolated"), "a|-|b");
  EXPECT_EQ(dash("Removed"), "a|b");
  EXPECT_EQ(dash("MergedWithPrevious"), "a-|b");
  EXPECT_EQ(dash("MergedWithNext"), "a|-b");
}

TEST(tokenizer_json, without_a_decoder_pieces_have_spaces_between_them) {
  parts made = character_parts();
  made.normalizer.clear();
  made.pre_tokenizer = R"({"type": "WhitespaceSplit"})";
  made.model = R"({"type": "BPE", "ignore_merges": true, "unk_token": "?", "merges": [], "vocab": {"?": 0, "a": 1,
    "ab": 2}})";
  made.added = R"({"id": 3, "content": "<s>", "special": true})";
  made.decoder = "null";
  const auto t = made.make();
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->decode(std::vector<token_id>{3, 2, 1, 3, 1}, false), "<s> ab a <s> a");
  EXPECT_EQ(t->decode(std::vector<token_id>{3, 2, 1, 3, 1}, true), "ab a a");
  EXPECT_EQ(t->bytes_of(3), "<s>");
}

TEST(tokenizer_json, what_is_not_known_is_named) {
  const auto refused = [](auto change, std::string_view name) {
    parts made;
    made.pre_tokenizer = byte_level;
    change(made);
    const error why = made.refusal();
    return (why.code == fault::unsupported || why.code == fault::unknown_model) &&
           why.message().find(name) != std::string::npos;
  };
  EXPECT_TRUE(refused([](parts& p) { p.normalizer = R"({"type": "Bort"})"; }, "Bort"));
  EXPECT_TRUE(refused([](parts& p) { p.pre_tokenizer = R"({"type": "Scripts"})"; }, "Scripts"));
  EXPECT_TRUE(refused([](parts& p) { p.decoder = R"({"type": "WordPiece"})"; }, "WordPiece"));
  EXPECT_TRUE(refused([](parts& p) { p.post_processor = R"({"type": "Odd"})"; }, "Odd"));
  EXPECT_TRUE(refused([](parts& p) { p.model = R"({"type": "WordPiece", "vocab": {}})"; }, "WordPiece"));
  EXPECT_TRUE(refused(
      [](parts& p) {
        p.pre_tokenizer = R"_({"type": "Split", "pattern": {"Regex": "(?~x)"}, "behavior": "Removed"})_";
      },
      "(?~x)"));
  EXPECT_TRUE(
      refused([](parts& p) { p.pre_tokenizer = R"({"type": "Split", "pattern": {"String": "x"}, "behavior": "Odd"})"; },
              "Odd"));
}

TEST(tokenizer_json, what_contradicts_itself_is_malformed) {
  const auto malformed = [](auto change) {
    parts made;
    made.pre_tokenizer = byte_level;
    change(made);
    return made.refusal().code == fault::malformed;
  };
  EXPECT_TRUE(malformed([](parts& p) { p.model = R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a z"]})"; }));
  EXPECT_TRUE(malformed([](parts& p) { p.model = R"({"type": "BPE", "vocab": {"a": -1}, "merges": []})"; }));
  EXPECT_TRUE(malformed([](parts& p) { p.model = R"({"type": "BPE", "vocab": {"a": 99999999}, "merges": []})"; }));
  EXPECT_TRUE(malformed([](parts& p) { p.model = R"({"type": "BPE", "vocab": {"a": 0}, "merges": [["a"]]})"; }));
  EXPECT_TRUE(malformed([](parts& p) { p.added = R"({"id": -3, "content": "<s>"})"; }));
  EXPECT_TRUE(malformed([](parts& p) { p.added = "3"; }));
  EXPECT_TRUE(malformed([](parts& p) { p.pre_tokenizer = R"({"type": "Sequence"})"; }));
  EXPECT_EQ(read_tokenizer_json("[]").error().code, fault::malformed);
  EXPECT_EQ(read_tokenizer_json("{").error().code, fault::malformed);
  EXPECT_EQ(read_tokenizer_json("").error().code, fault::malformed);
}

TEST(decoding, names_bytes) {
  EXPECT_EQ(named_byte("<0x0A>"), '\n');
  EXPECT_EQ(named_byte("<0xg0>"), std::nullopt);
  EXPECT_EQ(named_byte("<0x0A"), std::nullopt);
}

}  // namespace
}  // namespace infer::tokenize
