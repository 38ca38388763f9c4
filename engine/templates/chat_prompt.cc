// Conversations to template variables.
#include "engine/templates/chat_prompt.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <ctime>

namespace infer::templates {
namespace {

result<boost::json::value> parse(const std::string& text, const char* what) {
  boost::json::error_code code;
  boost::json::parse_options options;
  options.max_depth = 512;
  auto value = boost::json::parse(text, code, {}, options);
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

/// Keeps the spans up to the end of the last place where `content` stands.
result<void> cut_behind(std::vector<rendered_span>& spans, std::string_view content) {
  std::string whole;
  for (const rendered_span& span : spans) whole += span.text;
  // Templates may trim what they show.
  while (!content.empty() && (content.back() == ' ' || content.back() == '\n')) content.remove_suffix(1);
  const auto at = whole.rfind(content);
  if (content.empty() || at == std::string::npos)
    return fail(fault::evaluation,
                "the last message cannot be continued: the template does not show its text as it is");
  std::size_t left = at + content.size();
  std::vector<rendered_span> kept;
  for (rendered_span& span : spans) {
    if (left == 0) break;
    if (span.text.size() > left) span.text.resize(left);
    left -= span.text.size();
    kept.push_back(std::move(span));
  }
  spans = std::move(kept);
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
    INFER_TRYV(cut_behind(spans, input.turns.back().content));
  }
  return spans;
}

}  // namespace infer::templates
