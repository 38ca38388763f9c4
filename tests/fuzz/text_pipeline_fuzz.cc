// Any chain of steps over any text: the pieces are well-formed, cutting loses nothing, and normal forms are stable.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/tokenize/detokenizer.h"
#include "engine/tokenize/splitting_rules.h"
#include "engine/tokenize/text_pipeline.h"
#include "engine/tokenize/utf8.h"

using namespace infer::tokenize;

namespace {

using kind = text_step::kind;
constexpr std::uint8_t kinds = static_cast<std::uint8_t>(kind::letters) + 1;
constexpr std::size_t longest_chain = 4;

bool changes(const std::vector<text_step>& steps) {
  for (const text_step& step : steps) {
    if (step.what != kind::split || step.behavior == split_behavior::removed) return true;
  }
  return false;
}

std::string run(const std::vector<text_step>& steps, std::string_view text) {
  const auto made = text_pipeline::make(steps);
  if (!made) return std::string(text);
  piece_list pieces(text);
  made.value().run(pieces, true);
  std::string all;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].empty() || !utf8_valid(pieces[i])) std::abort();
    all += pieces[i];
  }
  if (!changes(steps) && all != text) std::abort();
  return all;
}

}  // namespace

/// The first bytes choose the steps, two bytes a step; the rest is the text, and the character map.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<text_step> steps;
  const auto rules = splitting_rules();
  while (size >= 2 && steps.size() < longest_chain && data[0] < kinds) {
    text_step step{.what = static_cast<kind>(data[0])};
    const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
    const auto& expressions = rules[data[1] % rules.size()].expressions;
    step.pattern = expressions[data[1] % expressions.size()];
    step.behavior = static_cast<split_behavior>(data[1] % 5);
    step.invert = data[1] > 127;
    step.content = step.what == kind::charsmap || step.what == kind::charsmap_prefix ? std::string(rest) : "\xC2\xB7";
    steps.push_back(std::move(step));
    data += 2;
    size -= 2;
  }
  detokenizer repair;
  std::string text = repair.push({reinterpret_cast<const char*>(data), size});
  text += repair.flush();
  const std::string once = run(steps, text);
  for (const kind form : {kind::nfc, kind::nfd, kind::nfkc, kind::nfkd}) {
    const std::string normal = run({{.what = form}}, once);
    if (run({{.what = form}}, normal) != normal) std::abort();
  }
  return 0;
}
