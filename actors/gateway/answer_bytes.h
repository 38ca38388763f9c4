// The head of an HTTP answer as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/gateway/request_head.h"
#include "protocol/http/http_error.h"

namespace infer::actors {

using header_fields = std::vector<std::pair<std::string, std::string>>;

struct answer_start {
  int status = 200;
  std::string content_type;             // empty: no body at all
  std::optional<std::uint64_t> length;  // absent: chunked, or until the end where `chunked` is false
  bool chunked = false;
  bool keep_alive = true;
  std::uint64_t keep_alive_seconds = 75;
  header_fields more;
};

std::string render_head(const answer_start& start);

/// One piece of a chunked body; nothing for an empty one.
std::string chunk_of(std::string_view bytes);
inline constexpr const char* last_chunk = "0\r\n\r\n";

/// Fields of an error: Retry-After, retry-after-ms, x-should-retry.
header_fields retry_fields(const http::http_error& error);
/// Fields that let a browser's page read the answer; none without an origin. The origin must have been allowed.
header_fields cors_fields(const request_head& head);
/// Fields of the answer to a preflight.
header_fields preflight_fields(const request_head& head);

}  // namespace infer::actors
