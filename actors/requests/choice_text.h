// The text of one choice as a function of its token log: characters made whole, stop strings held back and cut.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenize/detokenizer.h"
#include "protocol/messages/requests.h"

namespace infer::actors {

/// What a push or the end brought: text that may be shown, with the tokens it is made of, and whether a stop string
/// ended the choice.
struct text_step {
  std::string text;
  std::vector<msg::text_token> tokens;
  std::optional<std::string> stopped_by;
};

/// Never shows a part of a stop string and never half a character.
class choice_text {
 public:
  explicit choice_text(std::span<const std::string> stop);

  /// Takes the next token. After `stopped_by` nothing more may be pushed.
  text_step push(const msg::token& token);
  /// The log is complete: shows what was held back.
  text_step end();

  /// Whether text is held back because it may become a stop string or a character.
  bool holds() const { return !held_.empty() || !detokenizer_.held().empty(); }

 private:
  struct pending_token {
    msg::text_token token;
    std::size_t begin = 0, end = 0;  // its share of the whole text, in bytes
    bool open = false;               // ends inside a character that is not complete yet
  };
  void append(std::string_view text);
  text_step show(std::size_t upto);
  text_step settle(bool last);

  std::vector<std::string> stop_;
  tokenize::detokenizer detokenizer_;
  std::string held_;       // text after what was shown
  std::size_t shown_ = 0;  // bytes of the whole text shown so far
  std::deque<pending_token> pending_;
};

}  // namespace infer::actors
