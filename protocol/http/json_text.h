// JSON as it comes from clients and goes back to them. Boost.JSON's own limits, surrogate rule and number format do not
// fit either end.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/http/http_error.h"

namespace infer::http {

/// Brackets that may be open at once.
inline constexpr std::size_t json_depth_limit = 256;

/// Parses one JSON value out of a request body. A byte order mark is skipped, escaped lone surrogates become U+FFFD, of
/// equal keys the last one wins and the order of keys is kept.
/// Errors:  400 invalid_json that names the place: empty, malformed, trailing text, not UTF-8, nested deeper than
///          json_depth_limit.
/// Threads: any.
parsed<boost::json::value> parse_json(std::string body);

/// The shortest text that reads back as `value`: 1.0 stays 1.0, never an infinity or NaN (the largest finite number and
/// null instead). Always valid UTF-8 on one line.
std::string write_json(const boost::json::value& value);

/// Appends `text` as a JSON string. Bytes that are no UTF-8 become U+FFFD.
void append_quoted(std::string& out, std::string_view text);

/// `text` with U+FFFD for whatever is no UTF-8.
std::string to_valid_utf8(std::string_view text);

/// Characters of UTF-8.
std::uint64_t characters(std::string_view text);

}  // namespace infer::http
