// Conversations for templates that cannot do everything.
#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/json/read.h"
#include "engine/templates/abilities.h"
#include "engine/templates/printing.h"

namespace infer::templates {
namespace {

namespace json = boost::json;

// As Python writes it, so that 1.0 stays 1.0, without spaces. What is nested too deeply for values is written all the
// same; no template is shown it.
std::string text_of(const json::value& of) {
  const auto made = from_json(of);
  if (!made) return json::serialize(of);
  return to_json(made.value(), {.item_separator = ",", .key_separator = ":"}).value();
}

bool has_role(const json::value& message, std::string_view role) {
  const json::value* const found = message.get_object().if_contains("role");
  return found != nullptr && found->is_string() && std::string_view(found->get_string()) == role;
}

std::string content_of(const json::value& message) {
  const json::value* const content = message.get_object().if_contains("content");
  return content != nullptr && content->is_string() ? std::string(content->get_string()) : std::string();
}

bool has_calls(const json::value& message) {
  const json::value* const calls = message.get_object().if_contains("tool_calls");
  return calls != nullptr && calls->is_array() && !calls->get_array().empty();
}

std::string joined(const std::string& first, const std::string& second) {
  if (first.empty() || second.empty()) return first + second;
  return first + "\n\n" + second;
}

json::object message_of(const char* role, std::string content) {
  json::object out;
  out["role"] = role;
  out["content"] = std::move(content);
  return out;
}

/// All system texts in one message at the front, where they are not that already.
void gather_system(json::array& messages) {
  const auto is_system = [](const json::value& m) { return has_role(m, "system"); };
  const auto count = std::count_if(messages.begin(), messages.end(), is_system);
  if (count == 0 || (count == 1 && is_system(messages.front()))) return;
  std::string text;
  json::array rest;
  for (json::value& message : messages) {
    if (is_system(message))
      text = joined(text, content_of(message));
    else
      rest.push_back(std::move(message));
  }
  rest.insert(rest.begin(), message_of("system", std::move(text)));
  messages = std::move(rest);
}

void system_into_user(json::array& messages) {
  gather_system(messages);
  if (messages.empty() || !has_role(messages.front(), "system")) return;
  const std::string text = content_of(messages.front());
  messages.erase(messages.begin());
  if (messages.empty() || !has_role(messages.front(), "user")) {
    messages.insert(messages.begin(), message_of("user", text));
    return;
  }
  json::object& user = messages.front().get_object();
  user["content"] = joined(text, content_of(messages.front()));
}

/// {"name": …, "arguments": …} on a line for each call.
std::string calls_as_text(const json::object& message) {
  std::string out;
  for (const json::value& call : message.at("tool_calls").get_array()) {
    const json::object* const object = call.if_object();
    const json::value* const function = object != nullptr ? object->if_contains("function") : nullptr;
    out += (out.empty() ? "" : "\n") + text_of(function != nullptr ? *function : call);
  }
  return out;
}

void shape_arguments(json::object& function, const template_abilities& abilities) {
  json::value* const arguments = function.if_contains("arguments");
  if (arguments == nullptr) return;
  if (arguments->is_string() && !abilities.argument_strings) {
    json::error_code code;
    json::value parsed = read_json(arguments->get_string(), code, 512);
    if (!code && parsed.is_object()) *arguments = std::move(parsed);
  } else if (!arguments->is_string() && !abilities.argument_objects) {
    *arguments = json::string(text_of(*arguments));
  }
}

/// Nine letters and digits that stand for `id`: FNV-1a in base 36.
std::string short_id(std::string_view id) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string out;
  for (int i = 0; i < 9; ++i, hash /= 36) out += "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
  return out;
}

void shape_id(json::object& object, const char* name) {
  json::value* const id = object.if_contains(name);
  if (id == nullptr || !id->is_string()) return;
  const std::string_view text = id->get_string();
  const bool fits = text.size() == 9 && std::all_of(text.begin(), text.end(), [](char c) {
                      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                    });
  if (!fits) *id = json::string(short_id(text));
}

void shape_calls(json::object& message, const template_abilities& abilities) {
  if (!abilities.tool_calls) {
    message["content"] = joined(content_of(message), calls_as_text(message));
    message.erase("tool_calls");
    return;
  }
  if (!abilities.null_content && (!message.contains("content") || message.at("content").is_null()))
    message["content"] = "";
  for (json::value& call : message.at("tool_calls").get_array()) {
    if (!call.is_object()) continue;
    if (!abilities.any_call_ids) shape_id(call.get_object(), "id");
    json::value* const function = call.get_object().if_contains("function");
    if (function != nullptr && function->is_object()) shape_arguments(function->get_object(), abilities);
  }
}

/// Neighbours of the user, and of the assistant where neither calls a tool, become one.
void join_neighbours(json::array& messages) {
  json::array out;
  for (json::value& message : messages) {
    const bool joins = !out.empty() && ((has_role(message, "user") && has_role(out.back(), "user")) ||
                                        (has_role(message, "assistant") && has_role(out.back(), "assistant") &&
                                         !has_calls(message) && !has_calls(out.back())));
    if (joins)
      out.back().get_object()["content"] = joined(content_of(out.back()), content_of(message));
    else
      out.push_back(std::move(message));
  }
  messages = std::move(out);
}

void content_as_parts(json::object& message) {
  json::value* const content = message.if_contains("content");
  if (content == nullptr || !content->is_string()) return;
  json::object part;
  part["type"] = "text";
  part["text"] = std::move(*content);
  *content = json::array{std::move(part)};
}

}  // namespace

void describe_tools(json::array& messages, const json::value& tools) {
  messages.insert(messages.begin(),
                  message_of("system",
                             "You can call these tools. To call one, answer with a JSON object of its name "
                             "and its arguments.\n" +
                                 text_of(tools)));
}

void shape_messages(json::array& messages, const template_abilities& abilities) {
  if (abilities == template_abilities{} || !std::ranges::all_of(messages, &json::value::is_object)) return;
  if (!abilities.system_role)
    system_into_user(messages);
  else if (!abilities.late_system)
    gather_system(messages);
  for (json::value& message : messages) {
    json::object& object = message.get_object();
    if (has_role(message, "tool")) {
      if (!abilities.tool_role)
        object = message_of("user", content_of(message));
      else if (!abilities.any_call_ids)
        shape_id(object, "tool_call_id");
    } else if (has_calls(message)) {
      shape_calls(object, abilities);
    }
  }
  if (!abilities.same_role_turns) join_neighbours(messages);
  if (abilities.text_content) return;
  for (json::value& message : messages) content_as_parts(message.get_object());
}

}  // namespace infer::templates
