// The only place where a refusal becomes an HTTP status, an error type and a code.
#pragma once

#include "protocol/http/http_error.h"
#include "protocol/messages/requests.h"

namespace infer::http {

/// What to answer when a request failed before its first byte was sent.
http_error to_http(const msg::request_failed& failed);

/// 400 for a field with a value that makes no sense.
http_error invalid_value(std::string param, std::string message);
/// 400 for a field or value whose feature is not there.
http_error unsupported_value(std::string param, std::string message);
/// 404 for a model nobody knows.
http_error model_not_found(const std::string& model);

/// An error that the edge itself raises: wrong path, method, key, size. 4xx are the client's, 5xx the server's.
http_error edge_error(int status, std::string code, std::string message);

/// "Not Found" and the like, for the status line.
const char* reason_phrase(int status) noexcept;

}  // namespace infer::http
