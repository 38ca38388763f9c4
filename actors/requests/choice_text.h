// The text of one choice as a function of its token log: characters made whole, thinking set apart, stop strings held
// back and cut.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/templates/reasoning_split.h"
#include "engine/tokenize/detokenizer.h"
#include "protocol/messages/requests.h"

namespace infer::actors {

/// What a push or the end brought: text that may be shown, with the tokens it is made of, and whether a stop string
/// ended the choice. What the model thinks comes before its answer.
struct text_step {
  std::string reasoning, text;
  std::vector<msg::text_token> tokens;
  std::optional<std::string> stopped_by;
};

/// Never shows a part of a stop string and never half a character. Stop strings end answers, not thinking.
class choice_text {
 public:
  explicit choice_text(std::span<const std::string> stop);

  /// Sets thinking apart from now on; `inside`: the choice begins in it.
  void split_reasoning(bool inside) { reasoning_.emplace(inside); }

  /// Takes the next token. After `stopped_by` nothing more may be pushed.
  text_step push(const msg::token& token);
  /// The log is complete: shows what was held back.
  text_step end();

  /// Tokens that were thinking, its tags included.
  std::uint32_t reasoning_tokens() const { return reasoning_tokens_; }

 private:
  struct pending_token {
    msg::text_token token;
    std::size_t begin = 0, end = 0;  // its share of the whole answer, in bytes
    bool open = false;               // ends inside a character that is not complete yet
    std::size_t before = 0;          // bytes of the token in front of its share: of thinking
  };
  void take(std::string_view text, bool last, text_step& step);
  void measure();
  /// Bytes of the answer so far, those that may yet become a tag of thinking among them.
  std::size_t made() const { return shown_ + held_.size() + (reasoning_ ? reasoning_->undecided() : 0); }
  void show(std::size_t upto, text_step& step);
  void settle(bool last, text_step& step);

  std::vector<std::string> stop_;
  tokenize::detokenizer detokenizer_;
  std::optional<templates::reasoning_split> reasoning_;
  std::uint32_t reasoning_tokens_ = 0;
  std::string held_;       // of the answer, after what was shown
  std::size_t shown_ = 0;  // bytes of the answer shown so far
  std::deque<pending_token> pending_;
};

}  // namespace infer::actors
