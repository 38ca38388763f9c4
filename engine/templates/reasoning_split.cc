// The tags, found across pieces.
#include "engine/templates/reasoning_split.h"

#include <array>

namespace infer::templates {
namespace {

struct tag_pair {
  std::string_view open, close;
};
constexpr std::array<tag_pair, 2> tags{{{"<think>", "</think>"}, {"[THINK]", "[/THINK]"}}};
constexpr std::string_view white = " \t\r\n";

std::string_view without_leading_white(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(white), text.size()));
}

/// How many bytes at the end of `text` may be the beginning of a closing tag.
std::size_t maybe_tag(std::string_view text) {
  for (std::size_t from = text.size() > 8 ? text.size() - 8 : 0; from < text.size(); ++from) {
    for (const tag_pair& tag : tags) {
      if (tag.close.starts_with(text.substr(from))) return text.size() - from;
    }
  }
  return 0;
}

}  // namespace

bool ends_in_reasoning(std::string_view prompt) {
  const std::size_t last = prompt.find_last_not_of(white);
  prompt = last == std::string_view::npos ? std::string_view() : prompt.substr(0, last + 1);
  for (const tag_pair& tag : tags) {
    if (prompt.ends_with(tag.open)) return true;
  }
  return false;
}

bool is_reasoning_tag(std::string_view text) {
  for (const tag_pair& tag : tags) {
    if (text == tag.open || text == tag.close) return true;
  }
  return false;
}

bool leaves_reasoning_open(std::string_view message) {
  message = without_leading_white(message);
  for (const tag_pair& tag : tags) {
    if (message.starts_with(tag.open)) return message.find(tag.close) == std::string_view::npos;
  }
  return false;
}

void reasoning_split::emit(std::vector<answer_piece>& out, bool reasoning, std::string_view text) {
  if (text.empty()) return;
  if (!out.empty() && out.back().reasoning == reasoning)
    out.back().text += text;
  else
    out.push_back({reasoning, std::string(text)});
}

/// Whether the answer opens a block of thinking. False: not to be told yet.
bool reasoning_split::open(std::vector<answer_piece>& out) {
  const std::string_view rest = without_leading_white(held_);
  for (const tag_pair& tag : tags) {
    if (rest.starts_with(tag.open)) {
      held_.erase(0, held_.size() - rest.size() + tag.open.size());
      state_ = state::inside;
      opened_ = true;
      return true;
    }
    if (tag.open.starts_with(rest)) return false;
  }
  emit(out, false, held_);
  held_.clear();
  state_ = state::after;
  return false;
}

/// Shows thinking up to the closing tag.
bool reasoning_split::close(std::vector<answer_piece>& out) {
  if (at_first_) held_.erase(0, held_.size() - without_leading_white(held_).size());
  if (held_.empty()) return false;
  std::size_t end = std::string::npos, length = 0;
  for (const tag_pair& tag : tags) {
    const std::size_t at = held_.find(tag.close);
    if (at < end) end = at, length = tag.close.size();
  }
  const bool closed = end != std::string::npos;
  std::string_view shown = std::string_view(held_).substr(0, closed ? end : held_.size() - maybe_tag(held_));
  const std::size_t last = shown.find_last_not_of(white);
  if (last != std::string_view::npos) {
    at_first_ = false;
    emit(out, true, spaces_ + std::string(shown.substr(0, last + 1)));
    spaces_ = shown.substr(last + 1);
  } else {
    spaces_ += shown;
  }
  held_.erase(0, closed ? end + length : shown.size());
  if (closed) state_ = state::between;
  return closed;
}

/// One step through what is held; false where it needs more text.
bool reasoning_split::step(std::vector<answer_piece>& out) {
  switch (state_) {
    case state::start:
      return open(out);
    case state::inside:
      return close(out);
    case state::between:
      held_.erase(0, held_.size() - without_leading_white(held_).size());
      if (!held_.empty()) state_ = state::after;
      return !held_.empty();
    case state::after:
      break;
  }
  emit(out, false, held_);
  held_.clear();
  return false;
}

std::vector<answer_piece> reasoning_split::push(std::string_view text) {
  held_ += text;
  std::vector<answer_piece> out;
  while (step(out)) {
  }
  return out;
}

std::vector<answer_piece> reasoning_split::finish() {
  std::vector<answer_piece> out;
  if (state_ == state::inside)
    emit(out, true, held_.empty() ? std::string() : spaces_ + held_);
  else
    emit(out, false, held_);
  held_.clear();
  spaces_.clear();
  return out;
}

}  // namespace infer::templates
