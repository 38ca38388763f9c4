// The incremental detokenizer.
#include "engine/tokenize/detokenizer.h"

#include "engine/tokenize/utf8.h"

namespace infer::tokenize {

std::string detokenizer::push(std::string_view bytes) {
  std::string text;
  std::string joined;
  if (!held_.empty()) {
    joined = held_.append(bytes);
    held_.clear();
    bytes = joined;
  }
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const utf8_step step = utf8_first(bytes);
    if (step.what == utf8_step::kind::incomplete) {
      held_.assign(bytes);
      break;
    }
    text.append(step.what == utf8_step::kind::character ? bytes.substr(0, step.length) : replacement_character);
    bytes.remove_prefix(step.length);
  }
  return text;
}

std::string detokenizer::flush() {
  if (held_.empty()) return {};
  held_.clear();
  return std::string(replacement_character);
}

}  // namespace infer::tokenize
