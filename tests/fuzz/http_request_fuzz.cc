// Request bodies: the first byte picks the route, the rest is the body. Whatever comes back must be writable as JSON
// that parses again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "protocol/http/json_text.h"
#include "protocol/http/parse_call.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infer::http;
  if (size == 0) return 0;
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto call = parse_call(static_cast<call_kind>(data[0] % 4), body, {});
  if (call.has_value()) {
    const auto& generate = call.value().generate;
    if (generate.choices < 1 || generate.choices > 128) std::abort();
    for (const auto& message : generate.prompt.messages) {
      if (!parse_json(message.object_json)) std::abort();
    }
  } else if (call.error().status != 400 || call.error().message.empty()) {
    std::abort();
  }
  if (const auto value = parse_json(body); value.has_value()) {
    // Long decimal fractions may move by one unit in the last place, so that the texts need not be equal.
    if (!parse_json(write_json(value.value()))) std::abort();
  }
  return 0;
}
