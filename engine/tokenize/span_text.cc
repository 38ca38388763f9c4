// Concatenation and repair of typed spans.
#include "engine/tokenize/span_text.h"

#include "engine/tokenize/utf8.h"

namespace infer::tokenize {

span_text::span_text(std::span<const text_span> spans) {
  std::size_t total = 0;
  for (const text_span& span : spans) total += span.text.size();
  text_.reserve(total);
  for (const text_span& span : spans) {
    const std::size_t begin = text_.size();
    text_.append(span.text);
    if (!span.control_allowed || span.text.empty()) continue;
    if (!allowed_.empty() && allowed_.back().end == begin) {
      allowed_.back().end = text_.size();
    } else {
      allowed_.push_back({begin, text_.size()});
    }
  }
  if (!utf8_valid(text_)) repair();
}

// A character or replacement belongs to an allowed stretch only if all of the bytes it came from do.
void span_text::repair() {
  std::string fixed;
  fixed.reserve(text_.size() + 16);
  std::vector<stretch> moved;
  std::size_t which = 0;
  for (std::size_t at = 0; at < text_.size();) {
    const utf8_step step = utf8_first(std::string_view(text_).substr(at));
    const std::size_t begin = fixed.size();
    if (step.what == utf8_step::kind::character) {
      fixed.append(text_, at, step.length);
    } else {
      fixed.append(replacement_character);
    }
    while (which < allowed_.size() && allowed_[which].end < at + step.length) ++which;
    if (which < allowed_.size() && allowed_[which].begin <= at) {
      if (!moved.empty() && moved.back().end == begin) {
        moved.back().end = fixed.size();
      } else {
        moved.push_back({begin, fixed.size()});
      }
    }
    at += step.length;
  }
  text_ = std::move(fixed);
  allowed_ = std::move(moved);
}

std::size_t span_text::allowed_end(std::size_t at) {
  while (next_ < allowed_.size() && allowed_[next_].end <= at) ++next_;
  return next_ < allowed_.size() && allowed_[next_].begin <= at ? allowed_[next_].end : at;
}

}  // namespace infer::tokenize
