// GET over HTTP and HTTPS with libcurl: redirects by hand, so that a token never leaves the server it is for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "actors/loader/hub_fault.h"
#include "engine/core/bytes.h"

namespace infer::hub {

struct web_request {
  std::string url;
  std::string token;       // sent as bearer token to the host of `url`, not to one that it redirects to
  std::uint64_t from = 0;  // first byte wanted; above 0 asks for a range
  std::string if_range;    // the ETag that the range must belong to
};

/// The head of the last answer, after redirects.
struct web_head {
  int status = 0;
  std::string etag;
  std::string link;  // the Link field: where a listing goes on
  std::optional<std::uint64_t> content_length;
  std::optional<std::uint64_t> range_start, range_total;  // of Content-Range
  std::uint32_t retry_after = 0;                          // seconds
};

/// How one GET ended.
struct web_answer {
  web_head head;
  bool whole = false;    // the body came to its end
  bool stopped = false;  // `on_body` wanted no more
  std::string trouble;   // what broke, where neither
};

struct web_sink {
  /// Called once before the body of a 200 or 206; false ends the transfer.
  std::function<bool(const web_head&)> on_head;
  /// Called with each piece of the body; false ends the transfer.
  std::function<bool(byte_view)> on_body;
};

/// Keeps connections open between calls.
/// Threads: one at a time.
class web_client {
 public:
  /// A transfer below 1 KiB/s for `stall_seconds` is broken off, and so is a connection that takes that long.
  explicit web_client(std::uint32_t stall_seconds);
  web_client(web_client&&) noexcept;
  ~web_client();

  /// Follows up to ten redirects; from https to https only.
  web_answer get(const web_request& request, const web_sink& sink);
  /// A small answer as text, at most `limit` bytes.
  web_answer get_text(const web_request& request, std::string& text, std::size_t limit);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace infer::hub
