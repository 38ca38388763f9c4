// Holding back and cutting.
#include "actors/requests/choice_text.h"

#include <algorithm>

namespace infer::actors {
namespace {

/// Length of the longest end of `text` that begins `stop` without being all of it.
std::size_t partial_match(std::string_view text, std::string_view stop) {
  for (std::size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length) {
    if (text.ends_with(stop.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace

choice_text::choice_text(std::span<const std::string> stop) : stop_(stop.begin(), stop.end()) {
  std::erase_if(stop_, [](const std::string& s) { return s.empty(); });
}

/// Text in the order it was made: to the thinking, or to the answer.
void choice_text::take(std::string_view text, bool last, text_step& step) {
  if (!reasoning_) {
    held_ += text;
    return;
  }
  const auto sort = [&](const std::vector<templates::answer_piece>& pieces) {
    for (const templates::answer_piece& piece : pieces) (piece.reasoning ? step.reasoning : held_) += piece.text;
  };
  sort(reasoning_->push(text));
  if (last) sort(reasoning_->finish());
}

/// Tokens end where the answer does, until no character is incomplete.
void choice_text::measure() {
  for (pending_token& p : pending_) {
    if (!p.open) continue;
    p.end = made();
    p.open = !detokenizer_.held().empty();
  }
}

text_step choice_text::push(const msg::token& token) {
  const std::size_t answer = shown_ + held_.size();
  const bool had_opened = reasoning_ && reasoning_->has_opened(), was_inside = reasoning_ && reasoning_->is_inside();
  pending_.push_back({{token.id, token.bytes, token.logprob, token.top}, made(), made(), true});
  text_step step;
  take(detokenizer_.push(token.bytes), false, step);
  if (reasoning_ && reasoning_->has_opened() && !had_opened) {
    // What was held back was a tag and no part of the answer.
    for (pending_token& p : pending_) p.begin = p.end = answer;
    reasoning_tokens_ += static_cast<std::uint32_t>(pending_.size());
  } else if (was_inside) {
    ++reasoning_tokens_;
  }
  measure();
  pending_token& last = pending_.back();
  if (had_opened && !last.open) last.before = token.bytes.size() - std::min(token.bytes.size(), last.end - last.begin);
  settle(false, step);
  return step;
}

text_step choice_text::end() {
  text_step step;
  take(detokenizer_.flush(), true, step);
  measure();
  settle(true, step);
  return step;
}

void choice_text::settle(bool last, text_step& step) {
  // The earliest match wins; of several at one place the longest.
  std::size_t cut = std::string::npos;
  const std::string* by = nullptr;
  for (const std::string& stop : stop_) {
    const std::size_t at = held_.find(stop);
    if (at == std::string::npos) continue;
    if (at < cut || (at == cut && stop.size() > by->size())) {
      cut = at;
      by = &stop;
    }
  }
  if (by != nullptr) {
    const std::string stopped_by = *by;
    held_.resize(cut);
    const std::size_t whole = shown_ + cut;
    std::erase_if(pending_, [&](const pending_token& p) { return p.begin >= whole && p.end > whole; });
    for (pending_token& p : pending_) {
      p.open = false;
      if (p.end <= whole) continue;
      p.token.bytes.resize(std::min(p.token.bytes.size(), p.before + whole - p.begin));
      p.end = whole;
    }
    show(cut, step);
    step.stopped_by = stopped_by;
    return;
  }
  std::size_t hold = 0;
  if (!last) {
    for (const std::string& stop : stop_) hold = std::max(hold, partial_match(held_, stop));
  }
  show(held_.size() - hold, step);
}

void choice_text::show(std::size_t upto, text_step& step) {
  // Never cut inside a character: a stop string may begin with a part of one.
  while (upto > 0 && upto < held_.size() && (static_cast<unsigned char>(held_[upto]) & 0xC0) == 0x80) --upto;
  step.text = held_.substr(0, upto);
  held_.erase(0, upto);
  shown_ += upto;
  while (!pending_.empty() && !pending_.front().open && pending_.front().end <= shown_) {
    step.tokens.push_back(std::move(pending_.front().token));
    pending_.pop_front();
  }
}

}  // namespace infer::actors
