// The expressions and which names use them.
#include "engine/tokenize/splitting_rules.h"

#include <algorithm>
#include <string>

namespace infer::tokenize {
namespace {

#define INFER_CONTRACTIONS R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define INFER_SPACES R"(\s+(?!\S)|\s+)"
#define INFER_TAIL R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)" INFER_SPACES
#define INFER_GPT2 R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|)" INFER_SPACES
#define INFER_WORDS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|)"

constexpr std::string_view one_number = R"(\p{N})";
constexpr std::string_view numbers = R"(\p{N}+)";
constexpr std::string_view three_numbers = R"(\p{N}{1,3})";
constexpr std::string_view llama3 = INFER_CONTRACTIONS INFER_WORDS R"(\p{N}{1,3}|)" INFER_TAIL;
constexpr std::string_view llama3_all_numbers = INFER_CONTRACTIONS INFER_WORDS R"(\p{N}+|)" INFER_TAIL;
constexpr std::string_view qwen2 = INFER_CONTRACTIONS INFER_WORDS R"(\p{N}|)" INFER_TAIL;
constexpr std::string_view qwen35 = INFER_CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|)" INFER_SPACES;

// Words whose capitals come first.
#define INFER_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define INFER_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define INFER_CASED(behind)                                                                                           \
  R"([^\r\n\p{L}\p{N}]?)" INFER_UPPER "*" INFER_LOWER "+" behind R"(|[^\r\n\p{L}\p{N}]?)" INFER_UPPER "+" INFER_LOWER \
  "*" behind
#define INFER_SLASH_TAIL R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|)" INFER_SPACES
constexpr std::string_view tekken = INFER_CASED("") R"(|\p{N})" INFER_SLASH_TAIL;
constexpr std::string_view gpt4o = INFER_CASED(INFER_CONTRACTIONS "?") R"(|\p{N}{1,3})" INFER_SLASH_TAIL;

// The same without Han, which stands alone.
#define INFER_UPPER_NO_HAN R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])"
#define INFER_LOWER_NO_HAN R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])"
constexpr std::string_view kimi =
    R"([\p{Han}]+|[^\r\n\p{L}\p{N}]?)" INFER_UPPER_NO_HAN "*" INFER_LOWER_NO_HAN "+" INFER_CONTRACTIONS
    R"(?|[^\r\n\p{L}\p{N}]?)" INFER_UPPER_NO_HAN "+" INFER_LOWER_NO_HAN "*" INFER_CONTRACTIONS
    R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)" INFER_SPACES;

constexpr std::string_view deepseek3_cjk = "[一-龥\u3040-ゟ゠-ヿ]+";
constexpr std::string_view deepseek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)"
    R"(\s*[\r\n]+|)" INFER_SPACES;

constexpr std::string_view one_newline = R"([\r\n])";
constexpr std::string_view cjk = "[一-龥\u0800-一가-\ud7ff]+";
// The cased letters of an older Unicode, as the model's makers listed them.
constexpr std::string_view deepseek_letters =
    R"(\s?[)"
    R"(A-Za-z\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293}\x{295}-\x{2af})"
    R"(\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386}\x{388}-\x{38a}\x{38c}\x{38e}-\x{3a1})"
    R"(\x{3a3}-\x{3f5}\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556}\x{10a0}-\x{10c5}\x{13a0}-\x{13f5})"
    R"(\x{13f8}-\x{13fd}\x{1c90}-\x{1cba}\x{1cbd}-\x{1cbf}\x{1d00}-\x{1d2b}\x{1d6b}-\x{1d77}\x{1d79}-\x{1d9a})"
    R"(\x{1e00}-\x{1f15}\x{1f18}-\x{1f1d}\x{1f20}-\x{1f45}\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59}\x{1f5b})"
    R"(\x{1f5d}\x{1f5f}-\x{1f7d}\x{1f80}-\x{1fb4}\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4}\x{1fc6}-\x{1fcc})"
    R"(\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb}\x{1fe0}-\x{1fec}\x{1ff2}-\x{1ff4}\x{1ff6}-\x{1ffc}\x{2102}\x{2107})"
    R"(\x{210a}-\x{2113}\x{2115}\x{2119}-\x{211d}\x{2124}\x{2126}\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134})"
    R"(\x{2139}\x{213c}-\x{213f}\x{2145}-\x{2149}\x{214e}\x{2183}\x{2184}\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4})"
    R"(\x{2ceb}-\x{2cee}\x{2cf2}\x{2cf3}\x{a640}-\x{a66d}\x{a680}-\x{a69b}\x{a722}-\x{a76f}\x{a771}-\x{a787})"
    R"(\x{a78b}-\x{a78e}\x{ab70}-\x{abbf}\x{fb00}-\x{fb06}\x{fb13}-\x{fb17}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a})"
    R"(\x{10400}-\x{1044f}\x{104b0}-\x{104d3}\x{104d8}-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2})"
    R"(\x{118a0}-\x{118df}\x{1e900}-\x{1e943})"
    R"(]+)";
constexpr std::string_view deepseek_signs =
    R"(\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+)";

constexpr std::string_view bailing =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|)" INFER_SPACES;

}  // namespace

const std::string_view gpt2_expression = INFER_GPT2;

std::span<const splitting_rule> splitting_rules() {
  static const std::vector<splitting_rule> table = [] {
    constexpr std::string_view gpt2 = INFER_GPT2;
    std::vector<splitting_rule> rows;
    const auto add = [&](std::initializer_list<std::string_view> names, std::vector<std::string_view> expressions,
                         bool ignores_merges = false, bool adds_bos = false) {
      for (const std::string_view name : names) rows.push_back({name, expressions, ignores_merges, adds_bos});
    };
    add({"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "lfm2", "midm-2.0"}, {llama3}, true,
        true);
    add({"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}, {llama3});
    add({"qwen2", "megrez", "stablelm2", "deepseek-r1-qwen", "hunyuan", "solar-open", "kormo", "f2llmv2"}, {qwen2});
    add({"qwen35"}, {qwen35});
    add({"gpt-2", "phi-2", "mellum", "exaone4", "olmo", "jais", "mpt", "gigachat", "a.x-4.0", "trillion",
         "granite-docling"},
        {gpt2});
    add({"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "mellum2", "minerva-7b"},
        {one_number, gpt2});
    add({"tekken"}, {tekken}, true, true);
    add({"gpt-4o", "llama4", "kanana2", "minimax-m2", "talkie"}, {gpt4o});
    add({"deepseek-v3", "hunyuan-dense", "hy_v4", "joyai-llm"}, {three_numbers, deepseek3_cjk, deepseek3});
    add({"deepseek-llm"}, {one_newline, deepseek_letters, deepseek_signs, R"((?<!\s)\s++$)", cjk, numbers});
    add({"deepseek-coder"}, {one_newline, R"(\s?\p{L}+)", R"(\s?\p{P}+)", cjk, one_number});
    add({"bailingmoe", "bailingmoe2", "llada-moe"}, {bailing});
    add({"laguna"}, {R"([^\n]+|[\n]+)", qwen2});
    add({"kimi-k2"}, {kimi});
    add({"tiny_aya", "cohere2moe"}, {R"(\d{1,3}(?=(?:\d{3})*\b))", gpt4o});
    add({"minicpm5"}, {three_numbers, llama3_all_numbers}, true);
    add({"falcon"}, {R"([\p{P}\$\+<=>\^~\|`]+)", gpt2, "[0-9][0-9][0-9]"});
    add({"default"}, {R"([\p{P}\$\+<=>\^~\|]+)", gpt2, numbers, "[0-9][0-9][0-9]"});
    return rows;
  }();
  return table;
}

result<const splitting_rule*> find_splitting_rule(std::string_view name) {
  const auto rules = splitting_rules();
  const auto row = std::ranges::find(rules, name, &splitting_rule::name);
  if (row != rules.end()) return &*row;
  return fail(fault::unknown_pre_tokenizer,
              "the vocabulary's splitting rule (tokenizer.ggml.pre) '" + std::string(name) + "' is not supported");
}

}  // namespace infer::tokenize
