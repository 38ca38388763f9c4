// Streamed text cut into what a model thinks and what it answers, at the tags that models write around their thinking.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace infer::templates {

/// A stretch of text.
struct answer_piece {
  bool reasoning = false;
  std::string text;

  friend bool operator==(const answer_piece&, const answer_piece&) = default;
};

/// Whether a rendered prompt ends with the opening of a block of thinking, so that the answer goes on in it.
bool ends_in_reasoning(std::string_view prompt);
/// Whether a token's text is a tag around thinking, whole.
bool is_reasoning_tag(std::string_view text);
/// Whether an assistant's message that is to be continued has an opened block of thinking.
bool leaves_reasoning_open(std::string_view message);

/// Knows <think>…</think> and [THINK]…[/THINK]. Only a tag at the beginning of the answer opens a block; the tags and
/// the white space around them belong to neither part. Everything else comes back as it is, in order, whatever the
/// pieces it arrives in.
class reasoning_split {
 public:
  explicit reasoning_split(bool inside = false) : state_(inside ? state::inside : state::start), opened_(inside) {}

  /// What is sure by now; a piece that may yet be a part of a tag is held back.
  std::vector<answer_piece> push(std::string_view text);
  /// What was held back. The answer is over.
  std::vector<answer_piece> finish();

  /// Whether the answer has begun with a block of thinking.
  bool has_opened() const { return opened_; }
  bool is_inside() const { return state_ == state::inside; }
  /// Bytes held back that are the answer's unless they become an opening tag.
  std::size_t undecided() const { return state_ == state::start ? held_.size() : 0; }

 private:
  enum class state { start, inside, between, after };

  bool step(std::vector<answer_piece>& out);
  bool open(std::vector<answer_piece>& out);
  bool close(std::vector<answer_piece>& out);
  void emit(std::vector<answer_piece>& out, bool reasoning, std::string_view text);

  state state_;
  bool opened_;
  bool at_first_ = true;       // of a block: white space there is not shown
  std::string held_, spaces_;  // spaces at the end of the thinking are shown only where more follows
};

}  // namespace infer::templates
