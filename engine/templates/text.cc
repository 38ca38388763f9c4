// Provenance-keeping string operations.
#include "engine/templates/text.h"

#include <algorithm>

#include "engine/templates/unicode.h"

namespace infer::templates {

void text::push_run(std::size_t bytes, bool from_template) {
  if (bytes == 0) return;
  if (!runs_.empty() && runs_.back().from_template == from_template) {
    runs_.back().bytes += bytes;
  } else {
    runs_.push_back({bytes, from_template});
  }
}

void text::append(const text& other) {
  const std::size_t count = other.runs_.size();  // `other` may be this very text
  bytes_.append(std::string(other.bytes_));
  for (std::size_t i = 0; i < count; ++i) {
    const run added = other.runs_[i];
    push_run(added.bytes, added.from_template);
  }
}

void text::append(std::string_view bytes, bool from_template) {
  bytes_.append(bytes);
  push_run(bytes.size(), from_template);
}

text text::slice(std::size_t begin, std::size_t end) const {
  text part;
  part.markup_ = markup_;
  part.bytes_ = bytes_.substr(begin, end - begin);
  std::size_t at = 0;
  for (const run& piece : runs_) {
    const std::size_t first = std::max(at, begin), last = std::min(at + piece.bytes, end);
    if (first < last) part.push_run(last - first, piece.from_template);
    at += piece.bytes;
    if (at >= end) break;
  }
  return part;
}

text text::replace(std::string_view from, const text& to, long long count) const {
  text made;
  std::size_t done = 0, from_here = 0;
  while (count != 0 && from_here <= bytes_.size()) {
    const std::size_t found = bytes_.find(from, from_here);
    if (found == std::string::npos) break;
    made.append(slice(done, found));
    made.append(to);
    done = found + from.size();
    from_here = from.empty() ? found + (found < bytes_.size() ? first_character(view().substr(found)).bytes : 1) : done;
    if (count > 0) --count;
  }
  made.append(slice(std::min(done, bytes_.size()), bytes_.size()));
  return made;
}

}  // namespace infer::templates
