// Renders a source in one step, for the tests of this folder.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "engine/templates/chat_template.h"

namespace infer::templates {

/// 26 July 2024, 13:05:09, a Friday.
inline std::tm test_clock() {
  std::tm now{};
  now.tm_year = 124;
  now.tm_mon = 6;
  now.tm_mday = 26;
  now.tm_hour = 13;
  now.tm_min = 5;
  now.tm_sec = 9;
  now.tm_wday = 5;
  now.tm_yday = 207;
  return now;
}

inline std::string joined(const std::vector<rendered_span>& spans) {
  std::string text;
  for (const auto& span : spans) text += span.text;
  return text;
}

inline result<std::vector<rendered_span>> spans_of(std::string_view source, const boost::json::object& variables,
                                                   render_options options = {}) {
  options.now = test_clock();
  INFER_TRY(const auto compiled, chat_template::compile(source));
  return compiled.render(variables, options);
}

inline result<std::string> rendered(std::string_view source, const boost::json::object& variables = {},
                                    render_options options = {}) {
  INFER_TRY(const auto spans, spans_of(source, variables, std::move(options)));
  return joined(spans);
}

/// The output, with what came from the template in square brackets and what came from data in round ones.
inline std::string provenance(std::string_view source, const boost::json::object& variables = {}) {
  const auto spans = spans_of(source, variables);
  if (!spans) return spans.error().message();
  std::string shown;
  for (const auto& span : spans.value()) {
    shown += span.from_template ? "[" + span.text + "]" : "(" + span.text + ")";
  }
  return shown;
}

}  // namespace infer::templates
