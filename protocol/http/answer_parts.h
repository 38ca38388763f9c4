// The pieces that whole answers and chunks share, in both of OpenAI's shapes.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/http/call.h"

namespace infer::http {

/// What every chunk of one answer repeats.
struct answer_head {
  std::string id;             // see new_answer_id
  std::uint64_t created = 0;  // seconds since 1970
  std::string model;
  std::string fingerprint;
  boost::json::object metadata;  // given back; empty: none
  bool service_tier = false;     // was named
};

/// "chatcmpl-" or "cmpl-" and something unique.
std::string new_answer_id(call_kind kind);

/// {id, object, created, model, system_fingerprint}.
boost::json::object begin_answer(const answer_head& head, const char* object);

/// {prompt_tokens, completion_tokens, total_tokens, …_details}.
boost::json::object usage_of(const msg::request_finished& finished);

/// llama.cpp's "timings".
boost::json::object timings_of(const msg::request_finished& finished);

const char* finish_name(msg::finish_reason reason) noexcept;

/// A log-probability for JSON: never below -9999, whatever is no number included.
double logprob_of(msg::f32_bits bits) noexcept;

/// {"content": [{token, logprob, bytes, top_logprobs}], "refusal": null}.
boost::json::object chat_logprobs(const std::vector<msg::text_token>& tokens);

/// llama.cpp's answer to an infill: {content, stop, …}, with the rest once it has ended.
boost::json::object native_body(const std::string& content, const std::string& model, const msg::choice_finished* end,
                                const msg::request_finished* finished);

/// {tokens, token_logprobs, top_logprobs, text_offset}. A value that is no number is null; a token that is no UTF-8 is
/// "bytes:\xf0…". `offset` is where the first
/// token's text starts, in characters; it is moved past the last one's.
boost::json::object legacy_logprobs(const std::vector<msg::text_token>& tokens, std::uint64_t& offset);

}  // namespace infer::http
