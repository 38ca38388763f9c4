// Lines to events to members.
#include "apps/infer_node/chat/event_reader.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace infer::apps {
namespace {

namespace json = boost::json;

std::string message_of(const json::value& e) {
  json::error_code code;
  const json::value* const message = e.find_pointer("/message", code);
  return message != nullptr && message->is_string() ? std::string(message->get_string()) : json::serialize(e);
}

std::string_view text_at(const json::value& event, const char* pointer) {
  json::error_code code;
  const json::value* const value = event.find_pointer(pointer, code);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

template <class Number>
void read(const json::value& event, const char* pointer, std::optional<Number>& out) {
  json::error_code code;
  const json::value* const value = event.find_pointer(pointer, code);
  if (value == nullptr || !value->is_number()) return;
  const auto number = value->to_number<double>();
  if (number >= 0) out = static_cast<Number>(number);
}

}  // namespace

std::string refusal_text(const std::string& body) {
  json::error_code code;
  const json::value answer = json::parse(body, code);
  const json::value* const e = code ? nullptr : answer.find_pointer("/error", code);
  return e != nullptr ? message_of(*e) : body;
}

bool is_too_long(const std::string& body) {
  json::error_code code;
  const json::value answer = json::parse(body, code);
  return !code && (text_at(answer, "/error/code") == "context_length_exceeded" ||
                   text_at(answer, "/error/type") == "exceed_context_size_error");
}

void event_reader::push(std::string_view data) {
  rest_ += data;
  std::size_t from = 0;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', from)) {
    line(std::string_view(rest_).substr(from, end - from));
    from = end + 1;
  }
  rest_.erase(0, from);
}

void event_reader::line(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (!text.starts_with("data:")) return;
  text.remove_prefix(5);
  if (text.starts_with(' ')) text.remove_prefix(1);
  if (text == "[DONE]") {
    finished_ = true;
    return;
  }
  json::error_code code;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), code);
  if (!code && value.is_object()) event(value);
}

void event_reader::event(const json::value& event) {
  if (const json::value* const e = event.get_object().if_contains("error"); e != nullptr && !e->is_null())
    failure_ = message_of(*e);
  if (const std::string_view model = text_at(event, "/model"); !model.empty()) model_ = model;
  counts(event);
  std::string_view reasoning = text_at(event, "/choices/0/delta/reasoning_content");
  if (reasoning.empty()) reasoning = text_at(event, "/choices/0/delta/reasoning");
  if (!reasoning.empty()) to_.reasoning(reasoning);
  std::string_view text = text_at(event, "/choices/0/delta/content");
  if (text.empty()) text = text_at(event, "/choices/0/text");
  if (!text.empty()) to_.text(text);
  if (const std::string_view why = text_at(event, "/choices/0/finish_reason"); !why.empty()) finish_reason_ = why;
}

void event_reader::counts(const json::value& event) {
  read(event, "/usage/prompt_tokens", stats_.prompt_tokens);
  read(event, "/usage/completion_tokens", stats_.completion_tokens);
  read(event, "/usage/prompt_tokens_details/cached_tokens", stats_.cached_tokens);
  std::optional<double> decode_ms;
  read(event, "/timings/predicted_ms", decode_ms);
  if (decode_ms) stats_.decode_s = *decode_ms / 1000;
}

}  // namespace infer::apps
