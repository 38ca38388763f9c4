// Frames of an event stream.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace infer::http {

inline constexpr const char* sse_content_type = "text/event-stream; charset=utf-8";

/// "data: {…}\n\n".
std::string sse_data(const boost::json::value& value);
/// What ends a stream that went well.
std::string sse_done();
/// A comment, which clients skip: keeps connections open while nothing is to be said.
std::string sse_ping();

}  // namespace infer::http
