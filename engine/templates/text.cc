// Provenance-keeping string operations.
#include "engine/templates/text.h"

#include <algorithm>

#include "engine/templates/text_search.h"
#include "engine/templates/unicode.h"

namespace infer::templates {

std::vector<text::run> text::runs() const {
  if (!runs_.empty() || bytes_.empty()) return runs_;
  return {{bytes_.size(), from_template_}};
}

void text::push_run(std::size_t before, std::size_t bytes, bool from_template) {
  if (bytes == 0) return;
  if (before == 0) {
    from_template_ = from_template;
  } else if (runs_.empty()) {
    if (from_template_ == from_template) return;
    runs_ = {{before, from_template_}, {bytes, from_template}};
  } else if (runs_.back().from_template == from_template) {
    runs_.back().bytes += bytes;
  } else {
    runs_.push_back({bytes, from_template});
  }
}

void text::append(const text& other) {
  if (&other == this) return append(text(other));
  std::size_t before = bytes_.size();
  bytes_.append(other.bytes_);
  if (other.runs_.empty()) return push_run(before, other.size(), other.from_template_);
  for (const run& added : other.runs_) {
    push_run(before, added.bytes, added.from_template);
    before += added.bytes;
  }
}

void text::append(std::string_view bytes, bool from_template) {
  const std::size_t before = bytes_.size();
  bytes_.append(bytes);
  push_run(before, bytes.size(), from_template);
}

text text::slice(std::size_t begin, std::size_t end) const {
  return text_cutter(*this).cut(begin, end);
}

text_cutter::text_cutter(const text& of) : of_(of) {
  run_ends_.reserve(of.runs_.size());
  std::size_t at = 0;
  for (const text::run& piece : of.runs_) run_ends_.push_back(at += piece.bytes);
}

text text_cutter::cut(std::size_t begin, std::size_t end) const {
  text part(of_.bytes_.substr(begin, end - begin), of_.from_template_);
  part.markup_ = of_.markup_;
  auto run = static_cast<std::size_t>(std::ranges::upper_bound(run_ends_, begin) - run_ends_.begin());
  for (std::size_t at = begin; run < run_ends_.size() && at < end; ++run) {
    const std::size_t last = std::min(run_ends_[run], end);
    part.push_run(at - begin, last - at, of_.runs_[run].from_template);
    at = last;
  }
  return part;
}

text text::replace(std::string_view from, const text& to, long long count) const {
  const text_cutter pieces(*this);
  text made;
  std::size_t done = 0, from_here = 0;
  while (count != 0 && from_here <= bytes_.size()) {
    const std::size_t found = find_first(bytes_, from, from_here);
    if (found == std::string::npos) break;
    made.append(pieces.cut(done, found));
    made.append(to);
    done = found + from.size();
    from_here = from.empty() ? found + (found < bytes_.size() ? first_character(view().substr(found)).bytes : 1) : done;
    if (count > 0) --count;
  }
  made.append(pieces.cut(std::min(done, bytes_.size()), bytes_.size()));
  return made;
}

}  // namespace infer::templates
