// Frames of an event stream.
#include "protocol/http/sse.h"

#include "protocol/http/json_text.h"

namespace infer::http {

std::string sse_data(const boost::json::value& value) {
  return "data: " + write_json(value) + "\n\n";
}

std::string sse_done() {
  return "data: [DONE]\n\n";
}

std::string sse_ping() {
  return ": ping\n\n";
}

}  // namespace infer::http
