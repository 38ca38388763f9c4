// Events to one body.
#include "protocol/http/whole_answer.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <functional>
#include <utility>

#include "protocol/http/json_text.h"

namespace infer::http {

namespace json = boost::json;

whole_answer::whole_answer(const call& call, answer_head head)
    : kind_(call.kind),
      logprobs_(call.show_logprobs),
      made_(call.generate.choices),
      kept_(std::min(call.kept, call.generate.choices)),
      head_(std::move(head)),
      choices_(std::size_t{call.generate.choices} * call.prompts()) {}

void whole_answer::started(const msg::request_started& event) {
  head_.model = event.model;
}

void whole_answer::text(const msg::text_made& event) {
  if (event.choice >= choices_.size()) return;
  choice& to = choices_[event.choice];
  to.text += event.text;
  to.reasoning += event.reasoning;
  // The echo of a prompt covers no token of the answer.
  for (const msg::text_token& token : event.tokens) {
    if (event.upto == 0) continue;
    to.likelihood += logprob_of(token.logprob);
    ++to.counted;
  }
  if (logprobs_) to.tokens.insert(to.tokens.end(), event.tokens.begin(), event.tokens.end());
}

void whole_answer::choice_finished(const msg::choice_finished& event) {
  if (event.choice < choices_.size()) choices_[event.choice].end = event;
}

std::vector<const whole_answer::choice*> whole_answer::shown(std::size_t prompt) const {
  std::vector<const choice*> out;
  for (std::size_t i = 0; i < made_; ++i) out.push_back(&choices_[prompt * made_ + i]);
  if (kept_ < made_) {
    // They lie in one array, so that of equals the first made comes first.
    std::ranges::sort(
        out, [](const choice* a, const choice* b) { return a->mean() != b->mean() ? a->mean() > b->mean() : a < b; });
    out.resize(kept_);
  }
  return out;
}

json::object whole_answer::shape(const choice& choice, std::size_t index) const {
  json::object out;
  json::value logprobs = nullptr;
  if (kind_ == call_kind::chat) {
    json::object message;
    message["role"] = "assistant";
    message["content"] = choice.text;
    if (!choice.reasoning.empty()) message["reasoning_content"] = choice.reasoning;
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
  out["finish_reason"] = finish_name(choice.end.reason);
  return out;
}

std::string whole_answer::body(const msg::request_finished& event) const {
  if (kind_ == call_kind::infill)
    return write_json(native_body(choices_[0].text, head_.model, &choices_[0].end, &event));
  json::object out = begin_answer(head_, kind_ == call_kind::chat ? "chat.completion" : "text_completion");
  json::array choices;
  for (std::size_t prompt = 0; prompt * made_ < choices_.size(); ++prompt) {
    for (const choice* one : shown(prompt)) choices.emplace_back(shape(*one, choices.size()));
  }
  out["choices"] = std::move(choices);
  out["usage"] = usage_of(event);
  out["timings"] = timings_of(event);
  return write_json(out);
}

}  // namespace infer::http
