// The template module's front door.
#include "engine/templates/chat_template.h"

#include "engine/templates/evaluator.h"
#include "engine/templates/parser.h"
#include "engine/templates/resolver.h"

namespace infer::templates {

struct chat_template::tree {
  program root;
};

chat_template::chat_template(std::unique_ptr<const tree> root) : root_(std::move(root)) {}
chat_template::~chat_template() = default;
chat_template::chat_template(chat_template&&) noexcept = default;
chat_template& chat_template::operator=(chat_template&&) noexcept = default;

result<chat_template> chat_template::compile(std::string_view source) {
  INFER_TRY(auto body, parse(source));
  auto made = std::make_unique<tree>();
  made->root = resolve(std::move(body));
  return chat_template(std::move(made));
}

result<std::vector<rendered_span>> chat_template::render(const boost::json::object& variables,
                                                         const render_options& options) const {
  std::vector<std::optional<value>> values;
  for (const std::string& name : root_->root.variables) {
    values.emplace_back();
    const auto* item = variables.if_contains(name);
    if (item == nullptr) continue;
    const bool trusted = item->is_string() && options.trusted.contains(name);
    INFER_TRY(values.back(), from_json(*item, trusted));
  }
  evaluator rendering(root_->root, std::move(values), options.limits, options.now);
  auto ended = rendering.run();
  if (options.steps_spent != nullptr) *options.steps_spent = rendering.steps();
  INFER_TRY(const text output, std::move(ended));
  std::vector<rendered_span> spans;
  std::size_t at = 0;
  for (const text::run& run : output.runs()) {
    spans.push_back({std::string(output.view().substr(at, run.bytes)), run.from_template});
    at += run.bytes;
  }
  return spans;
}

}  // namespace infer::templates
