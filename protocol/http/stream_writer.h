// The events of a request as the frames of an event stream, in the order that clients rely on: the role of every
// choice, text, the finish reasons, the usage where it was asked for, [DONE]. The frame before [DONE] has the timings.
// Infills have llama.cpp's shape instead.
#pragma once

#include <string>
#include <vector>

#include "protocol/http/answer_parts.h"
#include "protocol/http/call.h"
#include "protocol/http/http_error.h"

namespace infer::http {

/// One streamed answer. Pure: every call returns the bytes to send.
class stream_writer {
 public:
  /// `head.model` is replaced by the real id when the request starts.
  stream_writer(const call& call, answer_head head);

  std::string started(const msg::request_started& event);
  std::string text(const msg::text_made& event);
  /// Empty for the choice that ends last where no usage was asked for: its frame waits for the timings.
  std::string choice_finished(const msg::choice_finished& event);
  std::string finished(const msg::request_finished& event);
  /// The frame of an error; no [DONE] follows it.
  static std::string failed(const http_error& error);

 private:
  boost::json::object chunk(std::uint32_t choice, boost::json::object delta, boost::json::value logprobs,
                            const char* finish) const;
  boost::json::object text_chunk(std::uint32_t choice, const std::string& text, boost::json::value logprobs,
                                 const char* finish) const;
  boost::json::object end_chunk(const msg::choice_finished& event) const;
  boost::json::object frame(boost::json::array choices) const;

  call_kind kind_;
  std::uint32_t choices_;
  bool logprobs_;
  bool include_usage_;
  answer_head head_;
  std::vector<std::uint64_t> offsets_;  // characters of each choice sent so far
  std::uint32_t ended_ = 0;             // choices
  msg::choice_finished last_;
};

}  // namespace infer::http
