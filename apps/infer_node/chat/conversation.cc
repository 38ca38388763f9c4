// Messages to JSON and back.
#include "apps/infer_node/chat/conversation.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <system_error>
#include <utility>

namespace infer::apps {
namespace {

namespace json = boost::json;

auto wrong(std::string why) {
  return fail(error{std::make_error_code(std::errc::invalid_argument), std::move(why)});
}

result<std::string> text_member(const json::object& from, const char* name, const std::string& where, bool needed) {
  const json::value* const value = from.if_contains(name);
  if (value == nullptr && !needed) return std::string();
  if (value == nullptr || !value->is_string()) return wrong(where + " has no text as \"" + name + "\"");
  return std::string(value->get_string());
}

result<chat_turn> turn_of(const json::value& value, std::size_t index) {
  const std::string where = "message " + std::to_string(index + 1);
  if (!value.is_object()) return wrong(where + " is no object with role and content");
  const json::object& object = value.get_object();
  chat_turn out;
  INFER_TRY(out.role, text_member(object, "role", where, true));
  if (out.role != "system" && out.role != "user" && out.role != "assistant")
    return wrong(where + " has the role '" + out.role + "'; a chat has system, user and assistant");
  if (out.role == "system" && index != 0) return wrong(where + " is the system's; only the first may be");
  INFER_TRY(out.content, text_member(object, "content", where, true));
  INFER_TRY(out.reasoning, text_member(object, "reasoning_content", where, false));
  return out;
}

}  // namespace

json::array messages_of(const std::vector<chat_turn>& turns) {
  json::array out;
  for (const chat_turn& turn : turns) {
    json::object message{{"role", turn.role}, {"content", turn.content}};
    if (!turn.reasoning.empty()) message["reasoning_content"] = turn.reasoning;
    out.push_back(std::move(message));
  }
  return out;
}

std::string saved_text(const std::vector<chat_turn>& turns) {
  std::string out = "{\"messages\": [";
  const char* between = "\n  ";
  for (const json::value& message : messages_of(turns)) {
    out += between + json::serialize(message);
    between = ",\n  ";
  }
  return out + "\n]}\n";
}

result<std::vector<chat_turn>> turns_of(std::string_view text) {
  json::error_code code;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), code);
  if (code) return wrong("it is not JSON: " + code.message());
  const json::value* messages = &value;
  if (value.is_object()) messages = value.get_object().if_contains("messages");
  if (messages == nullptr || !messages->is_array()) return wrong("it has no \"messages\"");
  std::vector<chat_turn> out;
  for (const json::value& message : messages->get_array()) {
    INFER_TRY(chat_turn turn, turn_of(message, out.size()));
    out.push_back(std::move(turn));
  }
  return out;
}

json::object chat_body(const std::vector<chat_turn>& turns, const chat_settings& settings) {
  json::object body;
  body["messages"] = messages_of(turns);
  if (settings.max_tokens >= 0) body["max_tokens"] = settings.max_tokens;
  if (settings.seed >= 0) body["seed"] = settings.seed;
  if (settings.think != think_mode::automatic)
    // Templates have it under one of two names.
    body["chat_template_kwargs"] = json::object{{"enable_thinking", settings.think == think_mode::on},
                                                {"thinking", settings.think == think_mode::on}};
  return body;
}

}  // namespace infer::apps
