// Text of a model made fit for a terminal, and how thinking is set apart from the answer.
#pragma once

#include <string>
#include <string_view>

#include "engine/templates/reasoning_split.h"

namespace infer::apps {

/// Control characters but line breaks and tabs in caret notation, so that no text of a model can drive the terminal.
std::string terminal_text(std::string_view text);

/// Puts the pieces of one answer in a row. With `colours` thinking is dimmed, else it stands between <think> and
/// </think>. A blank line is between thinking and answer.
class answer_view {
 public:
  explicit answer_view(bool colours) : colours_(colours) {}

  /// What to print for the next piece.
  std::string show(const templates::answer_piece& piece);
  /// What to print at the end, whenever it comes: closes what is open and ends the line.
  std::string finish();

 private:
  std::string leave_reasoning();

  bool colours_, in_reasoning_ = false, line_open_ = false;
};

/// `text` dimmed where there are colours.
std::string dimmed(std::string_view text, bool colours);

}  // namespace infer::apps
