// Conversations to template variables.
#include "engine/templates/chat_prompt.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <ctime>

#include "engine/json/read.h"
#include "engine/templates/unicode.h"

namespace infer::templates {
namespace {

/// Stands behind a message that is to be continued while it is rendered. The space tells of templates that trim.
constexpr std::string_view mark = "<the message goes on from here> ";

result<boost::json::value> parse(const std::string& text, const char* what) {
  boost::json::error_code code;
  auto value = read_json(text, code, 512);
  if (code) return fail(fault::evaluation, std::string(what) + " is not valid JSON: " + code.message());
  return value;
}

result<boost::json::object> message_of(const chat_turn& turn) {
  boost::json::object message;
  if (!turn.object_json.empty()) {
    INFER_TRY(auto value, parse(turn.object_json, "a message"));
    if (!value.is_object()) return fail(fault::evaluation, "a message is not a JSON object");
    message = std::move(value.get_object());
  }
  message["role"] = turn.role;
  // A null content stays null: templates ask for it beside tool calls.
  const auto* content = message.if_contains("content");
  if (content == nullptr || !content->is_null() || !turn.content.empty()) message["content"] = turn.content;
  return message;
}

result<boost::json::object> variables_of(const chat_input& input, const template_abilities& abilities) {
  boost::json::object variables;
  boost::json::array messages;
  for (const chat_turn& turn : input.turns) {
    INFER_TRY(auto message, message_of(turn));
    messages.push_back(std::move(message));
  }
  if (input.continue_last && !messages.empty())
    messages.back().get_object()["content"] = input.turns.back().content + std::string(mark);
  if (!input.tools_json.empty()) {
    INFER_TRY(auto tools, parse(input.tools_json, "tools"));
    if (abilities.tools)
      variables["tools"] = std::move(tools);
    else
      describe_tools(messages, tools);
  }
  shape_messages(messages, abilities);
  variables["messages"] = std::move(messages);
  variables["add_generation_prompt"] = input.add_generation_prompt && !input.continue_last;
  variables["bos_token"] = input.bos_token;
  variables["eos_token"] = input.eos_token;
  if (!input.kwargs_json.empty()) {
    INFER_TRY(auto extra, parse(input.kwargs_json, "chat_template_kwargs"));
    if (!extra.is_object()) return fail(fault::evaluation, "chat_template_kwargs is not a JSON object");
    // What is there already stands.
    for (auto& [key, value] : extra.get_object()) variables.emplace(key, std::move(value));
  }
  return variables;
}

std::string_view without_space(std::string_view text, bool left, bool right) {
  const byte_range kept = stripped(text, nullptr, left, right);
  return text.substr(kept.begin, kept.end - kept.begin);
}

std::string text_of(const std::vector<rendered_span>& spans) {
  std::string out;
  for (const rendered_span& span : spans) out += span.text;
  return out;
}

/// The spans of the first `left` bytes.
void keep_first(std::vector<rendered_span>& spans, std::size_t left) {
  std::size_t kept = 0;
  for (; kept < spans.size() && left > 0; ++kept) {
    std::string& text = spans[kept].text;
    text.resize(std::min(text.size(), left));
    left -= text.size();
  }
  spans.resize(kept);
}

/// Keeps what stands before the mark behind `content`. Where the template trims, the white space at its end goes, too.
result<void> cut_at_mark(std::vector<rendered_span>& spans, std::string_view content) {
  const std::string whole = text_of(spans);
  const std::size_t at = whole.rfind(without_space(mark, false, true));
  const std::string_view before = std::string_view(whole).substr(0, at);
  if (at == std::string::npos || !without_space(before, false, true).ends_with(without_space(content, true, true)))
    return fail(fault::evaluation,
                "the last message cannot be continued: the template does not show its text as it is");
  const bool trims = !std::string_view(whole).substr(at).starts_with(mark);
  keep_first(spans, at);
  if (trims && !spans.empty() && !spans.back().from_template) {
    std::string& end = spans.back().text;
    end.resize(without_space(end, false, true).size());
  }
  return success();
}

}  // namespace

result<std::vector<rendered_span>> render_chat(const chat_template& chat, const chat_input& input,
                                               const template_abilities& abilities) {
  INFER_TRY(const auto variables, variables_of(input, abilities));
  render_options options;
  options.trusted = {"bos_token", "eos_token"};  // ours; any other may be an argument of the user
  const std::time_t now = std::time(nullptr);
  localtime_r(&now, &options.now);
  INFER_TRY(auto spans, chat.render(variables, options));
  if (input.continue_last && !input.turns.empty()) {
    INFER_TRYV(cut_at_mark(spans, input.turns.back().content));
  }
  return spans;
}

}  // namespace infer::templates
