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

void choice_text::append(std::string_view text) {
  held_ += text;
  const std::size_t whole = shown_ + held_.size();
  for (pending_token& p : pending_) {
    if (p.open) p.end = whole;
  }
}

text_step choice_text::push(const msg::token& token) {
  const std::size_t begin = shown_ + held_.size();
  pending_.push_back({{token.id, token.bytes, token.logprob, token.top}, begin, begin, true});
  append(detokenizer_.push(token.bytes));
  if (detokenizer_.held().empty()) {
    for (pending_token& p : pending_) p.open = false;
  }
  return settle(false);
}

text_step choice_text::end() {
  append(detokenizer_.flush());
  for (pending_token& p : pending_) p.open = false;
  return settle(true);
}

text_step choice_text::settle(bool last) {
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
      p.token.bytes.resize(std::min(p.token.bytes.size(), whole - p.begin));
      p.end = whole;
    }
    text_step step = show(cut);
    step.stopped_by = stopped_by;
    return step;
  }
  std::size_t hold = 0;
  if (!last) {
    for (const std::string& stop : stop_) hold = std::max(hold, partial_match(held_, stop));
  }
  return show(held_.size() - hold);
}

text_step choice_text::show(std::size_t upto) {
  // Never cut inside a character: a stop string may begin with a part of one.
  while (upto > 0 && upto < held_.size() && (static_cast<unsigned char>(held_[upto]) & 0xC0) == 0x80) --upto;
  text_step step;
  step.text = held_.substr(0, upto);
  held_.erase(0, upto);
  shown_ += upto;
  while (!pending_.empty() && !pending_.front().open && pending_.front().end <= shown_) {
    step.tokens.push_back(std::move(pending_.front().token));
    pending_.pop_front();
  }
  return step;
}

}  // namespace infer::actors
