// Numbers to text.
#include "apps/infer_node/chat/answer_stats.h"

#include <cstdio>

namespace infer::apps {
namespace {

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string tokens(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " token" : " tokens");
}

}  // namespace

std::optional<double> answer_stats::tokens_per_second() const {
  if (!completion_tokens || !decode_s || *completion_tokens < 2 || *decode_s <= 0) return std::nullopt;
  return static_cast<double>(*completion_tokens - 1) / *decode_s;
}

std::string stats_line(const answer_stats& s) {
  std::string out;
  const auto part = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  if (s.completion_tokens) {
    part(tokens(*s.completion_tokens));
    if (const auto rate = s.tokens_per_second()) out += number(", %.1f tokens/s", *rate);
  }
  if (s.prompt_tokens) {
    part("prompt " + tokens(*s.prompt_tokens));
    if (s.cached_tokens && *s.cached_tokens > 0) out += ", " + std::to_string(*s.cached_tokens) + " cached";
  }
  if (s.first_token_s) part(number("first token after %.2f s", *s.first_token_s));
  return out;
}

void add_stats(boost::json::object& out, const answer_stats& s) {
  if (s.prompt_tokens) out["prompt_tokens"] = *s.prompt_tokens;
  if (s.cached_tokens) out["cached_tokens"] = *s.cached_tokens;
  if (s.completion_tokens) out["completion_tokens"] = *s.completion_tokens;
  if (s.first_token_s) out["first_token_s"] = *s.first_token_s;
  if (const auto rate = s.tokens_per_second()) out["tokens_per_second"] = *rate;
}

}  // namespace infer::apps
