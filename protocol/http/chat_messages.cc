// Messages and tools of a chat request.
#include "protocol/http/chat_messages.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/http/fields.h"
#include "protocol/http/json_text.h"
#include "protocol/http/status.h"

namespace infer::http {
namespace {

namespace json = boost::json;

std::string_view view(const json::string& text) {
  return {text.data(), text.size()};
}

/// The role as templates know it; empty where nobody does.
std::string_view template_role(std::string_view role) {
  if (role == "developer" || role == "system") return "system";
  if (role == "function" || role == "tool") return "tool";
  if (role == "user" || role == "assistant") return role;
  return {};
}

/// Appends the text of one part of a list.
parsed<void> append_part(std::string& text, const json::value& part, const std::string& path) {
  if (part.is_string()) {
    text += part.get_string();
    return success();
  }
  const json::object* const object = part.if_object();
  if (object == nullptr) return refuse(invalid_value(path, "'" + path + "' must be an object with a type"));
  const fields from{*object, path + "."};
  INFER_TRY(const json::string* const type, read_string(from, "type"));
  if (!type) return refuse(invalid_value(from.path_of("type"), "'" + path + "' has no type"));
  const bool refusal = *type == "refusal";
  if (refusal || *type == "text" || *type == "input_text" || *type == "output_text") {
    const std::string_view name = refusal ? "refusal" : "text";
    INFER_TRY(const json::string* const found, read_string(from, name));
    if (!found) return refuse(invalid_value(from.path_of(name), "'" + from.path_of(name) + "' is missing"));
    text += *found;
    return success();
  }
  return refuse(unsupported_value(
      path, "the model takes text only; parts of type '" + std::string(*type) + "' are not supported"));
}

parsed<std::string> read_content(const fields& from, std::string_view role) {
  const std::string path = from.path_of("content");
  const json::value* const content = from.find("content");
  if (content == nullptr) {
    if (role == "assistant" || role == "tool") return std::string();
    return refuse(invalid_value(path, "'" + path + "' is missing; only assistants and tools may have none"));
  }
  if (content->is_string()) return std::string(content->get_string());
  if (!content->is_array()) return refuse(invalid_value(path, "'" + path + "' must be a string or an array of parts"));
  std::string text;
  std::size_t index = 0;
  for (const json::value& part : content->get_array()) {
    INFER_TRYV(append_part(text, part, path + "[" + std::to_string(index++) + "]"));
  }
  return text;
}

/// The member's text; empty where there is none.
std::string_view text_at(const json::object& object, std::string_view name) {
  const json::value* const found = object.if_contains(name);
  return found != nullptr && found->is_string() ? view(found->get_string()) : std::string_view();
}

/// Clients replay reasoning under different names; templates read one.
void name_reasoning(json::object& message) {
  if (message.contains("reasoning_content")) return;
  std::string reasoning(text_at(message, "reasoning"));
  const json::value* const details = message.if_contains("reasoning_details");
  if (reasoning.empty() && details != nullptr && details->is_array()) {
    for (const json::value& detail : details->get_array()) {
      if (!detail.is_object()) continue;
      reasoning += text_at(detail.get_object(), "text");
      reasoning += text_at(detail.get_object(), "summary");
    }
  }
  if (!reasoning.empty()) message["reasoning_content"] = reasoning;
}

/// The message without what is null, which counts as absent, and without an empty list of calls: templates ask whether
/// a member is there. The content stays where it is.
json::object without_nulls(const json::object& message) {
  json::object out;
  for (const auto& member : message) {
    const json::value& value = member.value();
    const bool is_empty = value.is_null() || (value.is_array() && value.get_array().empty());
    if (member.key() == "content" || !(member.key() == "tool_calls" ? is_empty : value.is_null()))
      out[member.key()] = value;
  }
  return out;
}

/// Calls and their results from before there were tools, with an id made of the function's name.
void modernize_calls(json::object& message, std::string_view given_role) {
  const auto id_of = [](std::string_view function) { return "call_" + std::string(function); };
  const json::value* const older = message.if_contains("function_call");
  if (older != nullptr && older->is_object() && !message.contains("tool_calls")) {
    const json::object function = older->get_object();
    message["tool_calls"] = json::array{
        json::object{{"id", id_of(text_at(function, "name"))}, {"type", "function"}, {"function", function}}};
  }
  message.erase("function_call");
  if (given_role == "function" && !message.contains("tool_call_id"))
    message["tool_call_id"] = id_of(text_at(message, "name"));
}

/// A call without arguments has an empty object of them.
void fill_arguments(json::object& message) {
  json::value* const calls = message.if_contains("tool_calls");
  if (calls == nullptr) return;
  for (json::value& call : calls->get_array()) {
    json::value* const function = call.get_object().if_contains("function");
    if (function == nullptr || !function->is_object()) continue;
    json::value& arguments = function->get_object()["arguments"];
    const bool is_blank =
        arguments.is_string() && view(arguments.get_string()).find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (arguments.is_null() || is_blank) arguments = "{}";
  }
}

parsed<void> check_calls(const fields& from) {
  INFER_TRY(const json::array* const calls, read_array(from, "tool_calls"));
  if (calls == nullptr) return success();
  std::size_t index = 0;
  for (const json::value& item : *calls) {
    const std::string path = from.path_of("tool_calls") + "[" + std::to_string(index++) + "]";
    if (!item.is_object()) return refuse(invalid_value(path, "'" + path + "' must be an object"));
  }
  return success();
}

parsed<msg::chat_message> read_message(const json::value& item, const std::string& path) {
  const json::object* const object = item.if_object();
  if (object == nullptr) return refuse(invalid_value(path, "'" + path + "' must be an object with role and content"));
  const fields from{*object, path + "."};
  INFER_TRY(const json::string* const role, read_string(from, "role"));
  const std::string_view known = role != nullptr ? template_role(view(*role)) : std::string_view();
  if (known.empty())
    return refuse(invalid_value(from.path_of("role"),
                                "'" + from.path_of("role") + "' must be system, developer, user, assistant or tool"));
  INFER_TRY(std::string content, read_content(from, known));
  INFER_TRYV(check_calls(from));
  json::object kept = without_nulls(*object);
  modernize_calls(kept, view(*role));
  fill_arguments(kept);
  kept["role"] = json::string_view(known.data(), known.size());
  // Templates ask for a content that is null beside tool calls.
  if (from.find("content") != nullptr || !kept.contains("tool_calls"))
    kept["content"] = content;
  else
    kept["content"] = nullptr;
  name_reasoning(kept);
  return msg::chat_message{std::string(known), std::move(content), write_json(kept)};
}

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':' || c == '/';
  });
}

/// One function definition, checked and with its parameters in place.
parsed<json::object> read_function(const fields& from) {
  INFER_TRY(const json::string* const name, read_string(from, "name"));
  if (name == nullptr || !is_tool_name(view(*name)))
    return refuse(invalid_value(
        from.path_of("name"), "'" + from.path_of("name") + "' must be 1 to 64 letters, digits, dashes or underscores"));
  INFER_TRYV(read_string(from, "description"));
  INFER_TRY(const json::object* const parameters, read_object(from, "parameters"));
  INFER_TRYV(read_bool(from, "strict"));
  json::object out = from.object;
  if (parameters == nullptr) out["parameters"] = json::object();
  return out;
}

/// Appends the tool at `path` unless it is of a type that nobody here could run.
parsed<void> append_tool(json::array& out, const json::value& item, const std::string& path) {
  const json::object* const object = item.if_object();
  if (object == nullptr) return refuse(invalid_value(path, "'" + path + "' must be an object"));
  const fields from{*object, path + "."};
  INFER_TRY(const json::string* const type, read_string(from, "type"));
  if (type && *type != "function") return success();
  INFER_TRY(const json::object* const function, read_object(from, "function"));
  if (function == nullptr)
    return refuse(invalid_value(from.path_of("function"), "'" + from.path_of("function") + "' is missing"));
  INFER_TRY(json::object checked, read_function({*function, path + ".function."}));
  json::object tool = *object;
  tool["type"] = "function";
  tool["function"] = std::move(checked);
  out.emplace_back(std::move(tool));
  return success();
}

parsed<void> check_choice(const fields& request, std::string_view name) {
  const json::value* const choice = request.find(name);
  if (choice == nullptr) return success();
  const json::string* const word = choice->if_string();
  if (word != nullptr && (*word == "auto" || *word == "none")) return success();
  const std::string path(name);
  if ((word != nullptr && *word == "required") || choice->is_object())
    return refuse(
        unsupported_value(path, "'" + path + "' must be \"auto\" or \"none\"; forcing a call is not supported"));
  return refuse(invalid_value(path, "'" + path + "' must be \"none\", \"auto\", \"required\" or an object"));
}

}  // namespace

parsed<std::vector<msg::chat_message>> read_messages(const json::object& request) {
  const fields from{request, {}};
  INFER_TRY(const json::array* const items, read_array(from, "messages"));
  if (items == nullptr) return refuse(invalid_value("messages", "'messages' is missing"));
  if (items->empty()) return refuse(invalid_value("messages", "'messages' is empty"));
  std::vector<msg::chat_message> out;
  out.reserve(items->size());
  for (const json::value& item : *items) {
    INFER_TRY(auto message, read_message(item, "messages[" + std::to_string(out.size()) + "]"));
    out.push_back(std::move(message));
  }
  return out;
}

parsed<std::string> read_tools(const json::object& request) {
  const fields from{request, {}};
  INFER_TRYV(check_choice(from, "tool_choice"));
  INFER_TRYV(check_choice(from, "function_call"));
  INFER_TRYV(read_bool(from, "parallel_tool_calls"));
  INFER_TRY(const json::array* const tools, read_array(from, "tools"));
  INFER_TRY(const json::array* const functions, read_array(from, "functions"));
  json::array out;
  std::size_t index = 0;
  if (tools != nullptr) {
    for (const json::value& item : *tools) {
      INFER_TRYV(append_tool(out, item, "tools[" + std::to_string(index++) + "]"));
    }
  } else if (functions != nullptr) {
    for (const json::value& item : *functions) {
      const std::string path = "functions[" + std::to_string(index++) + "]";
      if (!item.is_object()) return refuse(invalid_value(path, "'" + path + "' must be an object"));
      INFER_TRY(json::object checked, read_function({item.get_object(), path + "."}));
      json::object tool;
      tool["type"] = "function";
      tool["function"] = std::move(checked);
      out.emplace_back(std::move(tool));
    }
  }
  return out.empty() ? std::string() : write_json(out);
}

}  // namespace infer::http
