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
  /// The body, once the request has finished. Of each prompt's choices the most likely are shown, by the mean
  /// log-probability of their tokens, where fewer are wanted than were made.
  std::string body(const msg::request_finished& event) const;

 private:
  struct choice {
    std::string text, reasoning;
    std::vector<msg::text_token> tokens;
    msg::choice_finished end;
    double likelihood = 0;
    std::uint32_t counted = 0;
    double mean() const { return counted == 0 ? 0.0 : likelihood / counted; }
  };
  boost::json::object shape(const choice& choice, std::size_t index) const;
  /// The choices of the prompt to show, best first where there is a choice, else in order.
  std::vector<const choice*> shown(std::size_t prompt) const;

  call_kind kind_;
  bool logprobs_;
  std::uint32_t made_, kept_;  // choices of a prompt
  answer_head head_;
  std::vector<choice> choices_;
};

}  // namespace infer::http
