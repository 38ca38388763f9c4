// Events to one body.
#include "protocol/http/whole_answer.h"

#include <boost/json/array.hpp>
#include <utility>

#include "protocol/http/json_text.h"

namespace infer::http {

namespace json = boost::json;

whole_answer::whole_answer(const call& call, answer_head head)
    : kind_(call.kind), logprobs_(call.generate.logprobs), head_(std::move(head)), choices_(call.generate.choices) {}

void whole_answer::started(const msg::request_started& event) {
  head_.model = event.model;
}

void whole_answer::text(const msg::text_made& event) {
  if (event.choice >= choices_.size()) return;
  choice& to = choices_[event.choice];
  to.text += event.text;
  if (logprobs_) to.tokens.insert(to.tokens.end(), event.tokens.begin(), event.tokens.end());
}

void whole_answer::choice_finished(const msg::choice_finished& event) {
  if (event.choice < choices_.size()) choices_[event.choice].reason = event.reason;
}

json::object whole_answer::shape(const choice& choice, std::size_t index) const {
  json::object out;
  json::value logprobs = nullptr;
  if (kind_ == call_kind::chat) {
    json::object message;
    message["role"] = "assistant";
    message["content"] = choice.text;
    message["refusal"] = nullptr;
    message["annotations"] = json::array();
    out["index"] = index;
    out["message"] = std::move(message);
    if (logprobs_) logprobs = chat_logprobs(choice.tokens);
  } else {
    out["text"] = choice.text;
    out["index"] = index;
    std::uint64_t offset = 0;
    if (logprobs_) logprobs = legacy_logprobs(choice.tokens, offset);
  }
  out["logprobs"] = std::move(logprobs);
  out["finish_reason"] = finish_name(choice.reason);
  return out;
}

std::string whole_answer::body(const msg::request_finished& event) const {
  json::object out = begin_answer(head_, kind_ == call_kind::chat ? "chat.completion" : "text_completion");
  json::array choices;
  for (std::size_t i = 0; i < choices_.size(); ++i) choices.emplace_back(shape(choices_[i], i));
  out["choices"] = std::move(choices);
  out["usage"] = usage_of(event);
  out["timings"] = timings_of(event);
  return write_json(out);
}

}  // namespace infer::http
