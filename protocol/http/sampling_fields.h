// The fields that chat and completions share: sampling, limits, stops, and what is refused.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string_view>

#include "protocol/http/call.h"
#include "protocol/http/fields.h"
#include "protocol/http/http_error.h"
#include "protocol/http/parse_call.h"

namespace infer::http {

/// Model, sampling, choices, stop strings, seed and streaming of a chat or completion request into `out`.
/// Errors:  400 with the path.
parsed<void> read_shared_fields(const boost::json::object& request, const call_defaults& defaults, call& out);

/// A limit of tokens into `out`, where it is given; −1: as many as fit.
parsed<void> read_token_limit(const fields& from, std::string_view name, std::uint32_t& out);

/// The "model" of any request.
parsed<void> read_model(const fields& from, msg::generate& out);

}  // namespace infer::http
