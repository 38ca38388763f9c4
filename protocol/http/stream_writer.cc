// Events to frames.
#include "protocol/http/stream_writer.h"

#include <boost/json/array.hpp>
#include <utility>

#include "protocol/http/envelope.h"
#include "protocol/http/sse.h"

namespace infer::http {

namespace json = boost::json;

stream_writer::stream_writer(const call& call, answer_head head)
    : kind_(call.kind),
      choices_(call.generate.choices * call.prompts()),
      logprobs_(call.show_logprobs),
      include_usage_(call.include_usage),
      head_(std::move(head)),
      offsets_(choices_, 0) {}

json::object stream_writer::frame(json::array choices) const {
  json::object out = begin_answer(head_, kind_ == call_kind::chat ? "chat.completion.chunk" : "text_completion");
  out["choices"] = std::move(choices);
  if (include_usage_) out["usage"] = nullptr;
  return out;
}

json::object stream_writer::chunk(std::uint32_t choice, json::object delta, json::value logprobs,
                                  const char* finish) const {
  json::object entry;
  entry["index"] = choice;
  entry["delta"] = std::move(delta);
  entry["logprobs"] = std::move(logprobs);
  entry["finish_reason"] = finish == nullptr ? json::value(nullptr) : json::value(finish);
  return frame(json::array{std::move(entry)});
}

json::object stream_writer::text_chunk(std::uint32_t choice, const std::string& text, json::value logprobs,
                                       const char* finish) const {
  json::object entry;
  entry["text"] = text;
  entry["index"] = choice;
  entry["logprobs"] = std::move(logprobs);
  entry["finish_reason"] = finish == nullptr ? json::value(nullptr) : json::value(finish);
  return frame(json::array{std::move(entry)});
}

json::object stream_writer::end_chunk(const msg::choice_finished& event) const {
  if (kind_ == call_kind::chat) return chunk(event.choice, {}, nullptr, finish_name(event.reason));
  return text_chunk(event.choice, {}, nullptr, finish_name(event.reason));
}

std::string stream_writer::started(const msg::request_started& event) {
  head_.model = event.model;
  std::string out;
  if (kind_ != call_kind::chat) return out;
  for (std::uint32_t choice = 0; choice < choices_; ++choice) {
    json::object delta;
    delta["role"] = "assistant";
    delta["content"] = "";
    out += sse_data(chunk(choice, std::move(delta), nullptr, nullptr));
  }
  return out;
}

std::string stream_writer::text(const msg::text_made& event) {
  if (event.choice >= choices_ || (event.text.empty() && event.reasoning.empty() && event.tokens.empty())) return {};
  if (kind_ == call_kind::infill) return sse_data(native_body(event.text, head_.model, nullptr, nullptr));
  if (kind_ != call_kind::chat) {
    json::value logprobs = nullptr;
    if (logprobs_) logprobs = legacy_logprobs(event.tokens, offsets_[event.choice]);
    return sse_data(text_chunk(event.choice, event.text, std::move(logprobs), nullptr));
  }
  std::string out;
  json::object delta;
  if (!event.reasoning.empty()) {
    delta["reasoning_content"] = event.reasoning;
    out = sse_data(chunk(event.choice, std::move(delta), nullptr, nullptr));
    if (event.text.empty() && event.tokens.empty()) return out;
    delta = {};
  }
  delta["content"] = event.text;
  json::value logprobs = nullptr;
  if (logprobs_) logprobs = chat_logprobs(event.tokens);
  return out + sse_data(chunk(event.choice, std::move(delta), std::move(logprobs), nullptr));
}

std::string stream_writer::choice_finished(const msg::choice_finished& event) {
  if (event.choice >= choices_) return {};
  last_ = event;
  ++ended_;
  if (kind_ == call_kind::infill || (ended_ == choices_ && !include_usage_)) return {};
  return sse_data(end_chunk(event));
}

std::string stream_writer::finished(const msg::request_finished& event) {
  if (kind_ == call_kind::infill) return sse_data(native_body({}, head_.model, &last_, &event));
  json::object last;
  if (include_usage_) {
    last = frame({});
    last["usage"] = usage_of(event);
  } else {
    last = end_chunk(last_);
  }
  last["timings"] = timings_of(event);
  return sse_data(std::move(last)) + sse_done();
}

std::string stream_writer::failed(const http_error& error) {
  return sse_data(error_body(error));
}

}  // namespace infer::http
