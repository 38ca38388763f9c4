// The template module's front door.
#include "engine/templates/chat_template.h"

#include "engine/templates/evaluator.h"
#include "engine/templates/parser.h"

namespace infer::templates {

struct chat_template::tree {
  statements root;
};

chat_template::chat_template(std::unique_ptr<const tree> root) : root_(std::move(root)) {}
chat_template::~chat_template() = default;
chat_template::chat_template(chat_template&&) noexcept = default;
chat_template& chat_template::operator=(chat_template&&) noexcept = default;

result<chat_template> chat_template::compile(std::string_view source) {
  auto made = std::make_unique<tree>();
  INFER_TRY(made->root, parse(source));
  return chat_template(std::move(made));
}

result<std::vector<rendered_span>> chat_template::render(const boost::json::object& variables,
                                                         const render_options& options) const {
  std::unordered_map<std::string, value> values;
  for (const auto& [key, item] : variables) {
    const bool trusted = item.is_string() && options.trusted.contains(std::string_view(key));
    INFER_TRY(auto made, from_json(item, trusted));
    values.emplace(std::string(key), std::move(made));
  }
  evaluator rendering(std::move(values), options.limits, options.now);
  INFER_TRY(const text output, rendering.run(root_->root));
  std::vector<rendered_span> spans;
  std::size_t at = 0;
  for (const text::run& run : output.runs()) {
    spans.push_back({std::string(output.view().substr(at, run.bytes)), run.from_template});
    at += run.bytes;
  }
  return spans;
}

}  // namespace infer::templates
