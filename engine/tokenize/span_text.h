// Joins typed spans into one well-formed text that remembers where control tokens are allowed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/tokenize/tokenizer.h"

namespace infer::tokenize {

/// The concatenation of spans, ill-formed UTF-8 replaced by U+FFFD.
class span_text {
 public:
  explicit span_text(std::span<const text_span> spans);

  std::string_view text() const { return text_; }

  /// The end of the allowed stretch that holds the byte `at`; `at` itself where it is not allowed. Successive calls
  /// must ask for ascending positions.
  std::size_t allowed_end(std::size_t at);

  /// Whether control tokens are allowed in all of the text.
  bool all_allowed() const {
    return text_.empty() || (allowed_.size() == 1 && allowed_[0].begin == 0 && allowed_[0].end == text_.size());
  }

 private:
  struct stretch {
    std::size_t begin, end;
  };
  void repair();

  std::string text_;
  std::vector<stretch> allowed_;  // ascending, not touching
  std::size_t next_ = 0;          // the first stretch that may still matter
};

}  // namespace infer::tokenize
