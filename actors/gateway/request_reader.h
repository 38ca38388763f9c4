// HTTP/1 requests out of bytes, on Beast's parser.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "actors/gateway/request_head.h"
#include "protocol/http/http_error.h"

namespace infer::actors {

/// Reads one request.
class request_reader {
 public:
  enum class progress {
    more,      // feed again when there is more to feed
    head,      // the head is complete; once
    complete,  // head and body are
    failed,    // see error()
  };

  explicit request_reader(std::size_t header_limit);
  ~request_reader();

  /// Reads from the front of `bytes`; `used` is how many are done with. Call again as long as it makes headway.
  progress feed(std::string_view bytes, std::size_t& used);

  request_head& head();
  /// What has come of the body since it was last taken.
  std::string& body();
  /// The rest of the body is of no interest.
  void discard_body();
  /// 400, or 431 for a head beyond the limit.
  const http::http_error& error() const;

 private:
  struct parser;
  std::unique_ptr<parser> parser_;
};

}  // namespace infer::actors
