// Any bytes as user text: no control tokens, and decoding gives the text back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/tokenize/detokenizer.h"
#include "engine/tokenize/scored.h"
#include "tests/engine/tokenize/scored_vocabulary.h"

using namespace infer::tokenize;

namespace {

void check(const tokenizer& model, std::string_view text, const std::string& expected) {
  const auto ids = model.encode(text, false);
  for (const auto id : ids) {
    if (model.is_control(id)) std::abort();
  }
  if (model.decode(ids, false) != expected) std::abort();
  if (model.decode(model.encode(text, true), false) != expected) std::abort();
  const std::size_t half = text.size() / 2;
  const std::vector<text_span> spans = {{text.substr(0, half), false}, {text.substr(half), false}};
  if (model.encode(spans) != ids) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto models = [] {
    std::vector<std::shared_ptr<const tokenizer>> made;
    for (const char* pre : {"gpt-2", "smollm", "llama-bpe", "qwen2", "qwen35"}) {
      small_vocabulary vocabulary;
      vocabulary.data().pre = pre;
      made.push_back(vocabulary.make());
    }
    return made;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  detokenizer repair;  // ill-formed input counts as U+FFFD
  std::string expected = repair.push(text);
  expected += repair.flush();
  for (const auto& model : models) check(*model, text, expected);
  static const auto scored = scored_vocabulary({"the", "he", "\xE2\x96\x81the", "th", "t", "h", "e", "\xE2\x96\x81",
                                                "\xC3\xA9", "<", "u", ">"})
                                 .make();
  std::string spaced;  // such vocabularies write both with one character
  append_with_spaces(expected, spaced);
  check(*scored, text, spaced);
  return 0;
}
