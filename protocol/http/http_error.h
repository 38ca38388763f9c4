// An answer that is an error, before it is put into a dialect's envelope.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/result.h"

namespace infer::http {

/// Status, the four members of OpenAI's error object, and what clients should do about it.
struct http_error {
  int status = 400;
  std::string type = "invalid_request_error";
  std::string code;  // empty: null
  std::string message;
  std::string param;                 // path of the field at fault; empty: null
  std::uint32_t retry_after_ms = 0;  // 0: no Retry-After
  bool give_up = false;              // repeating cannot help: x-should-retry: false
};

/// A value or the error to answer with.
template <class T>
using parsed = BOOST_OUTCOME_V2_NAMESPACE::basic_result<T, http_error, BOOST_OUTCOME_V2_NAMESPACE::policy::terminate>;

/// `return refuse(error)` in any function that returns a `parsed`.
[[nodiscard]] inline auto refuse(http_error e) {
  return BOOST_OUTCOME_V2_NAMESPACE::failure(std::move(e));
}

}  // namespace infer::http
