// Any bytes as a chat template, rendered over a small conversation under tight limits.
#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/templates/chat_template.h"

using namespace infer::templates;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const boost::json::object variables =
      boost::json::parse(
          R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "tool_calls":
             [{"name": "f", "arguments": {"a": 1, "b": [1.0, "x"]}}]}], "tools": [], "bos_token": "<s>"})")
          .as_object();
  const auto compiled = chat_template::compile({reinterpret_cast<const char*>(data), size});
  if (!compiled) return 0;
  render_options options;
  options.limits = {.steps = 20000, .depth = 100, .output_bytes = 1 << 16, .value_bytes = 1 << 18};
  const auto spans = compiled.value().render(variables, options);
  if (!spans) return 0;
  for (std::size_t i = 0; i < spans.value().size(); ++i) {
    const auto& span = spans.value()[i];
    if (span.text.empty()) std::abort();
    if (i > 0 && spans.value()[i - 1].from_template == span.from_template) std::abort();
  }
  return 0;
}
