// Request bodies to calls: which fields are understood, their ranges and what is refused.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/http/call.h"
#include "protocol/http/http_error.h"

namespace infer::http {

/// What a request gets where it says nothing.
struct call_defaults {
  msg::sampling sampling;
  msg::pooling pooling = msg::pooling::mean;  // of embeddings
  std::uint32_t completion_tokens = 16;       // max_tokens of /completions
};

/// Bodies to calls; request ids are left 0. Unknown fields are accepted and ignored; fields whose feature is not there
/// are refused where they ask for something.
/// Errors:  400 with the path of the field as param; 400 invalid_json.
/// Threads: any.
parsed<call> parse_chat(std::string body, const call_defaults& defaults);
parsed<call> parse_completion(std::string body, const call_defaults& defaults);
/// {"input_prefix", "input_suffix", "input_extra", "prompt"}
parsed<call> parse_infill(std::string body, const call_defaults& defaults);
/// {"input", "encoding_format", "dimensions", "pooling"}
parsed<call> parse_embeddings(std::string body, const call_defaults& defaults);
/// A chat's body; the answer is the prompt.
parsed<call> parse_apply_template(std::string body);
/// {"content", "add_special": false, "parse_special": true, "with_pieces": false}
parsed<call> parse_tokenize(std::string body);
/// {"tokens": [ids]}
parsed<call> parse_detokenize(std::string body);

/// A body that is one JSON object.
parsed<boost::json::object> parse_object(std::string body);

/// mean, cls or last.
std::optional<msg::pooling> pooling_of(std::string_view name);

/// The one for `kind`.
parsed<call> parse_call(call_kind kind, std::string body, const call_defaults& defaults);

}  // namespace infer::http
