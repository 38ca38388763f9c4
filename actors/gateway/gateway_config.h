// The settings of the HTTP server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/http/parse_call.h"

namespace infer::actors {

struct gateway_config {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;                 // 0: pick a free one
  std::vector<std::string> api_keys;         // empty: no authentication
  std::vector<std::string> allowed_origins;  // foreign origins that may ask; "*": all
  std::string fingerprint = "infer-node";    // system_fingerprint of answers
  http::call_defaults defaults;

  std::size_t max_body = std::size_t{64} << 20;
  std::size_t max_header = std::size_t{64} << 10;
  std::size_t max_connections = 1024;
  std::size_t max_buffered = std::size_t{512} << 20;     // bodies of all connections together
  std::size_t parse_threshold = std::size_t{256} << 10;  // larger bodies are parsed off the I/O threads

  std::chrono::milliseconds header_timeout{30'000};  // from the first byte of a request to its last header
  std::chrono::milliseconds body_timeout{30'000};    // for every further 64 KiB of a body
  std::chrono::milliseconds idle_timeout{90'000};    // between requests
  std::chrono::milliseconds write_timeout{300'000};  // without the client taking a byte
  std::chrono::milliseconds ping_interval{15'000};   // streams: at most this long in silence
  std::chrono::milliseconds answer_timeout{10'000};  // for the zoo's answers, and for a gateway actor to come back
};

}  // namespace infer::actors
