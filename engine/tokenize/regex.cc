// Searching with PCRE2; the JIT where it is there, with the interpreter for what exceeds the JIT's stack.
#include "engine/tokenize/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <limits>

#include "engine/tokenize/regex_syntax.h"
#include "engine/tokenize/utf8.h"

namespace infer::tokenize {
namespace {

/// Steps of one search. Expressions come with model files, so that none may search for ever.
constexpr std::uint32_t match_limit = 10'000'000;
constexpr std::uint32_t heap_limit_kib = 1 << 20;
constexpr std::size_t longest_pattern = 1 << 16;

}  // namespace

struct regex::compiled {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;
  bool jit = false;

  compiled() = default;
  compiled(const compiled&) = delete;
  compiled& operator=(const compiled&) = delete;
  ~compiled() {
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }

  int match(std::string_view text, std::size_t from, pcre2_match_data* found) const {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    if (jit) {
      const int count = pcre2_jit_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, found, context);
      if (count != PCRE2_ERROR_JIT_STACKLIMIT) return count;
    }
    return pcre2_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, found, context);
  }
};

regex::scratch::scratch() : data_(pcre2_match_data_create(1, nullptr)) {}

regex::scratch::~scratch() {
  pcre2_match_data_free(static_cast<pcre2_match_data*>(data_));
}

result<regex> regex::compile(std::string_view pattern, unsigned options, std::string_view shown) {
  int number = 0;
  PCRE2_SIZE where = 0;
  auto made = std::make_shared<compiled>();
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> settings(
      pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
  if (settings) {
    pcre2_set_newline(settings.get(), PCRE2_NEWLINE_LF);
    pcre2_set_max_pattern_length(settings.get(), longest_pattern);
  }
  made->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &number, &where,
                             settings.get());
  made->context = pcre2_match_context_create(nullptr);
  if (made->code == nullptr || made->context == nullptr) {
    PCRE2_UCHAR message[128] = {};
    pcre2_get_error_message(number, message, sizeof message);
    return fail(fault::unsupported, "the regular expression '" + std::string(shown) + "' is not supported (" +
                                        reinterpret_cast<const char*>(message) + ")");
  }
  pcre2_set_match_limit(made->context, match_limit);
  pcre2_set_depth_limit(made->context, std::numeric_limits<std::uint32_t>::max());
  pcre2_set_heap_limit(made->context, heap_limit_kib);
  made->jit = pcre2_jit_compile(made->code, PCRE2_JIT_COMPLETE) == 0;  // the interpreter gives the same matches
  regex finished;
  finished.code_ = std::move(made);
  return finished;
}

result<regex> regex::make(std::string_view pattern) {
  INFER_TRY(const std::string spelled, pcre2_syntax(pattern));
  return compile(spelled, PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, pattern);
}

result<regex> regex::literal(std::string_view text) {
  return compile(text, PCRE2_UTF | PCRE2_LITERAL, text);
}

void regex::find_all(std::string_view text, scratch& with, std::vector<byte_range>& matches) const {
  auto* found = static_cast<pcre2_match_data*>(with.data_);
  if (found == nullptr) return;
  const PCRE2_SIZE* range = pcre2_get_ovector_pointer(found);
  std::size_t from = 0, last_end = std::numeric_limits<std::size_t>::max();
  while (from <= text.size()) {
    if (code_->match(text, from, found) < 0) return;
    const std::size_t begin = range[0], end = range[1];
    if (begin < end) {
      from = last_end = end;
    } else if (begin > end) {  // \K in a look-ahead can say that
      return;
    } else {
      if (end == last_end) {
        from += from < text.size() ? utf8_first(text.substr(from)).length : 1;
        continue;
      }
      from = last_end = end;
    }
    matches.push_back({begin, end});
  }
}

}  // namespace infer::tokenize
