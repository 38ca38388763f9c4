// An answer that is sent in one piece, gathered from the events of its request.
#pragma once

#include <string>
#include <vector>

#include "protocol/http/answer_parts.h"
#include "protocol/http/call.h"

namespace infer::http {

class whole_answer {
 public:
  /// `head.model` is replaced by the real id when the request starts.
  whole_answer(const call& call, answer_head head);

  void started(const msg::request_started& event);
  void text(const msg::text_made& event);
  void choice_finished(const msg::choice_finished& event);
  /// The body, once the request has finished.
  std::string body(const msg::request_finished& event) const;

 private:
  struct choice {
    std::string text;
    std::vector<msg::text_token> tokens;
    msg::finish_reason reason{};
  };
  boost::json::object shape(const choice& choice, std::size_t index) const;

  call_kind kind_;
  bool logprobs_;
  answer_head head_;
  std::vector<choice> choices_;
};

}  // namespace infer::http
