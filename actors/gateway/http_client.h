// A small blocking HTTP client for our own programs: one POST, the body handed on as it arrives.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "engine/core/result.h"

namespace infer::actors {

struct http_answer {
  unsigned status = 0;
  std::string body;  // of answers that are not 2xx, and of all where no `on_data` was given
};

/// Where a server is: http://HOST[:PORT][/PREFIX].
struct server_address {
  std::string host;  // of an IPv6 address without its brackets
  std::string port = "80";
  std::string prefix;  // what all paths begin with: empty, or a slash and more

  /// HOST:PORT as the head of a request has it.
  std::string host_field() const;
};

/// A prefix that ends in /v1, as OpenAI's clients have it, counts without.
/// Errors:  invalid_argument: another scheme, no host, a query, blanks.
result<server_address> read_server_address(std::string_view url);

/// POSTs JSON to `base_url` + `target`; `on_data` gets each piece of a 2xx body. Where `cancel` is given and becomes
/// true, the connection is closed, which tells the server to stop.
/// Errors:  a URL that is no server's address; the system's errors of resolving, connecting, reading and writing;
///          operation_canceled.
/// Threads: blocks the caller. `cancel` may be set from anywhere, a signal handler too; it is looked at every 20 ms.
result<http_answer> http_post(const std::string& base_url, std::string_view target, std::string body,
                              const std::string& api_key, const std::function<void(std::string_view)>& on_data,
                              const std::atomic<bool>* cancel = nullptr);

}  // namespace infer::actors
