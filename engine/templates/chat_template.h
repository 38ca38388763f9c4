// A model's chat template: compiled once, rendered for every conversation.
#pragma once

#include <boost/json/object.hpp>
#include <ctime>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/templates/budget.h"
#include "engine/templates/fault.h"

namespace infer::templates {

/// A stretch of rendered text. Only text that came from the template itself may become control tokens.
struct rendered_span {
  std::string text;
  bool from_template = false;

  friend bool operator==(const rendered_span&, const rendered_span&) = default;
};

struct render_options {
  render_limits limits;
  /// The clock of strftime_now, as broken-down local time.
  std::tm now{};
  /// Variables whose strings count as the template's own.
  std::set<std::string, std::less<>> trusted = {"bos_token", "eos_token", "pad_token", "unk_token"};
  /// Where to write how many of limits.steps were spent, if anywhere.
  std::uint64_t* steps_spent = nullptr;
};

/// Threads: immutable; any thread may render.
class chat_template {
 public:
  /// Errors:  syntax, with the line and what was expected.
  static result<chat_template> compile(std::string_view source);

  /// Renders with these variables (messages, tools, add_generation_prompt, bos_token, …), key order kept. Neighbouring
  /// spans differ in provenance; none is empty.
  /// Errors:  evaluation, limit, raised.
  result<std::vector<rendered_span>> render(const boost::json::object& variables,
                                            const render_options& options = {}) const;

  ~chat_template();
  chat_template(chat_template&&) noexcept;
  chat_template& operator=(chat_template&&) noexcept;

 private:
  struct tree;
  explicit chat_template(std::unique_ptr<const tree> root);
  std::unique_ptr<const tree> root_;
};

}  // namespace infer::templates
