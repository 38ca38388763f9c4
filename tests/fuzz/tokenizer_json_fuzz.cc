// Any bytes as a tokenizer.json: what is accepted encodes and decodes, and no user text gives a control token.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/tokenize/tokenizer.h"
#include "engine/tokenize/tokenizer_json.h"
#include "engine/tokenize/utf8.h"

using namespace infer::tokenize;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = read_tokenizer_json(text, text, text);
  if (!file) return 0;
  const auto made = tokenizer::make(file.value().data);
  if (!made) return 0;
  const tokenizer& with = *made.value();
  for (const std::string_view input : {"ab aab", " <s>a\xC3\xA9<u>\n", "12 \xE2\x96\x81x\xF0\x9F\x98\x80", "\xFF"}) {
    const auto ids = with.encode(input, false);
    for (const auto id : ids) {
      if (!with.contains(id) || with.is_control(id)) {
        if (id != with.unk()) std::abort();
      }
    }
    if (!utf8_valid(with.decode(ids, false))) std::abort();
    for (const auto id : with.encode(input, true, {.add_special = true})) {
      if (!with.contains(id)) std::abort();
    }
  }
  return 0;
}
