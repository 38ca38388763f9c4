// Request bodies to calls: which fields are understood, their ranges and what is refused.
#pragma once

#include <string>

#include "protocol/http/call.h"
#include "protocol/http/http_error.h"

namespace infer::http {

/// What a request gets where it says nothing.
struct call_defaults {
  float temperature = 1.0f;
  std::uint32_t top_k = 0;
  float top_p = 1.0f;
  float min_p = 0.0f;
  std::uint32_t completion_tokens = 16;  // max_tokens of /completions
};

/// Bodies to calls; request ids are left 0. Unknown fields are accepted and ignored; fields whose feature is not there
/// are refused where they ask for something.
/// Errors:  400 with the path of the field as param; 400 invalid_json.
/// Threads: any.
parsed<call> parse_chat(std::string body, const call_defaults& defaults);
parsed<call> parse_completion(std::string body, const call_defaults& defaults);
/// {"content", "add_special": false, "parse_special": true, "with_pieces": false}
parsed<call> parse_tokenize(std::string body);
/// {"tokens": [ids]}
parsed<call> parse_detokenize(std::string body);

/// The one for `kind`.
parsed<call> parse_call(call_kind kind, std::string body, const call_defaults& defaults);

}  // namespace infer::http
