// The splitting rules, compiled with PCRE2.
//
// White space is spelled out: PCRE2's own \s counts U+180E, which the tokenizers' regular expressions do not. The
// expressions repeat single characters only, so neither the JIT's stack nor the interpreter's heap grows with the text.
#include "engine/tokenize/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstdint>
#include <limits>
#include <string>

namespace infer::tokenize {
namespace {

#define INFER_WS R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})"
#define INFER_CONTRACTIONS R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define INFER_SPACES "[" INFER_WS R"(]+(?![^)" INFER_WS "])|[" INFER_WS "]+"
// Punctuation and white space of the llama 3 line; the letters and digits come before it.
#define INFER_TAIL " ?[^" INFER_WS R"(\p{L}\p{N}]+[\r\n]*|[)" INFER_WS R"(]*[\r\n]+|)" INFER_SPACES

constexpr const char* gpt2_split =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^)" INFER_WS R"(\p{L}\p{N}]+|)" INFER_SPACES;
constexpr const char* one_number = R"(\p{N})";
constexpr const char* llama3_split = INFER_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)" INFER_TAIL;
constexpr const char* qwen2_split = INFER_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)" INFER_TAIL;
constexpr const char* qwen35_split =
    INFER_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^)" INFER_WS
                       R"(\p{L}\p{M}\p{N}]+[\r\n]*|[)" INFER_WS R"(]*[\r\n]+|)" INFER_SPACES;

struct rule {
  std::string_view name;
  std::vector<const char*> stages;
  bool ignores_merges = false;
  bool adds_bos = false;
};

const std::vector<rule>& rules() {
  static const std::vector<rule> table = {
      {"gpt-2", {gpt2_split}},
      {"phi-2", {gpt2_split}},
      {"mellum", {gpt2_split}},
      {"exaone4", {gpt2_split}},
      {"olmo", {gpt2_split}},
      {"jais", {gpt2_split}},
      {"mpt", {gpt2_split}},
      {"smollm", {one_number, gpt2_split}},
      {"starcoder", {one_number, gpt2_split}},
      {"refact", {one_number, gpt2_split}},
      {"command-r", {one_number, gpt2_split}},
      {"codeshell", {one_number, gpt2_split}},
      {"exaone", {one_number, gpt2_split}},
      {"mellum2", {one_number, gpt2_split}},
      {"llama-bpe", {llama3_split}, true, true},
      {"llama3", {llama3_split}, true, true},
      {"llama-v3", {llama3_split}, true, true},
      {"falcon3", {llama3_split}, true, true},
      {"falcon-h1", {llama3_split}, true, true},
      {"pixtral", {llama3_split}, true, true},
      {"lfm2", {llama3_split}, true, true},
      {"dbrx", {llama3_split}},
      {"smaug-bpe", {llama3_split}},
      {"glm4", {llama3_split}},
      {"chatglm-bpe", {llama3_split}},
      {"qwen2", {qwen2_split}},
      {"megrez", {qwen2_split}},
      {"stablelm2", {qwen2_split}},
      {"deepseek-r1-qwen", {qwen2_split}},
      {"hunyuan", {qwen2_split}},
      {"solar-open", {qwen2_split}},
      {"qwen35", {qwen35_split}},
  };
  return table;
}

using match_data = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

}  // namespace

struct pre_tokenizer::compiled {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;

  compiled() = default;
  compiled(const compiled&) = delete;
  compiled& operator=(const compiled&) = delete;
  ~compiled() {
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }

  static result<std::shared_ptr<const compiled>> make(const char* pattern) {
    int number = 0;
    PCRE2_SIZE where = 0;
    auto made = std::make_shared<compiled>();
    made->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP,
                               &number, &where, nullptr);
    made->context = pcre2_match_context_create(nullptr);
    if (made->code == nullptr || made->context == nullptr) {
      return fail(fault::unknown_pre_tokenizer, "the PCRE2 library refuses a splitting rule (error " +
                                                    std::to_string(number) + " at " + std::to_string(where) + ")");
    }
    pcre2_set_match_limit(made->context, std::numeric_limits<std::uint32_t>::max());
    pcre2_set_depth_limit(made->context, std::numeric_limits<std::uint32_t>::max());
    pcre2_set_heap_limit(made->context, std::numeric_limits<std::uint32_t>::max());
    pcre2_jit_compile(made->code, PCRE2_JIT_COMPLETE);  // without a JIT the interpreter gives the same matches
    return std::shared_ptr<const compiled>(std::move(made));
  }

  void split(std::string_view text, pcre2_match_data* found, std::vector<std::string_view>& pieces) const {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    std::size_t done = 0;
    while (done < text.size()) {
      int count = pcre2_match(code, subject, text.size(), done, PCRE2_NO_UTF_CHECK, found, context);
      if (count == PCRE2_ERROR_JIT_STACKLIMIT) {
        count = pcre2_match(code, subject, text.size(), done, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, found, context);
      }
      if (count < 0) break;
      const PCRE2_SIZE* range = pcre2_get_ovector_pointer(found);
      if (range[1] <= range[0]) break;
      if (range[0] > done) pieces.push_back(text.substr(done, range[0] - done));
      pieces.push_back(text.substr(range[0], range[1] - range[0]));
      done = range[1];
    }
    if (done < text.size()) pieces.push_back(text.substr(done));
  }
};

result<pre_tokenizer> pre_tokenizer::make(std::string_view name) {
  for (const rule& row : rules()) {
    if (row.name != name) continue;
    pre_tokenizer made;
    made.ignores_merges_ = row.ignores_merges;
    made.adds_bos_ = row.adds_bos;
    for (const char* pattern : row.stages) {
      INFER_TRY(auto stage, compiled::make(pattern));
      made.stages_.push_back(std::move(stage));
    }
    return made;
  }
  return fail(fault::unknown_pre_tokenizer,
              "the vocabulary's splitting rule (tokenizer.ggml.pre) '" + std::string(name) + "' is not supported");
}

std::vector<std::string_view> pre_tokenizer::split(std::string_view text) const {
  std::vector<std::string_view> pieces;
  if (text.empty()) return pieces;
  pieces.push_back(text);
  const match_data found(pcre2_match_data_create(1, nullptr), &pcre2_match_data_free);
  if (!found) return pieces;
  for (const auto& stage : stages_) {
    std::vector<std::string_view> finer;
    finer.reserve(text.size() / 4 + 1);
    for (const std::string_view piece : pieces) stage->split(piece, found.get(), finer);
    pieces = std::move(finer);
  }
  return pieces;
}

}  // namespace infer::tokenize
