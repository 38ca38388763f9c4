// Refusals to statuses.
#include "protocol/http/status.h"

#include <array>
#include <utility>

namespace infer::http {
namespace {

struct row {
  int status;
  const char* type;
  const char* code;
  std::uint32_t retry_after_ms;  // where the refusal names none
  bool give_up;                  // unless the refusal says when to come back
};

constexpr const char* client_fault = "invalid_request_error";
constexpr const char* server_fault = "server_error";

row row_of(msg::refusal code) {
  switch (code) {
    case msg::refusal::invalid_value:
      return {400, client_fault, "invalid_value", 0, false};
    case msg::refusal::unsupported_value:
      return {400, client_fault, "unsupported_value", 0, false};
    case msg::refusal::context_length_exceeded:
      return {400, client_fault, "context_length_exceeded", 0, false};
    case msg::refusal::model_not_found:
      return {404, client_fault, "model_not_found", 0, false};
    case msg::refusal::model_failed:
      return {503, server_fault, "model_failed", 0, true};
    case msg::refusal::no_memory:
      return {503, server_fault, "no_memory", 0, true};
    case msg::refusal::overloaded:
      return {429, "rate_limit_error", "rate_limit_exceeded", 1000, false};
    case msg::refusal::model_loading:
      return {503, server_fault, "model_loading", 1000, false};
    case msg::refusal::deadline_exceeded:
      return {504, server_fault, "deadline_exceeded", 0, false};
    case msg::refusal::shutting_down:
      return {503, server_fault, "shutting_down", 1000, false};
    case msg::refusal::internal:
      break;
  }
  return {500, server_fault, "", 0, true};
}

constexpr std::array phrases = {
    std::pair{100, "Continue"},
    std::pair{200, "OK"},
    std::pair{204, "No Content"},
    std::pair{400, "Bad Request"},
    std::pair{401, "Unauthorized"},
    std::pair{403, "Forbidden"},
    std::pair{404, "Not Found"},
    std::pair{405, "Method Not Allowed"},
    std::pair{408, "Request Timeout"},
    std::pair{413, "Payload Too Large"},
    std::pair{415, "Unsupported Media Type"},
    std::pair{429, "Too Many Requests"},
    std::pair{431, "Request Header Fields Too Large"},
    std::pair{500, "Internal Server Error"},
    std::pair{501, "Not Implemented"},
    std::pair{503, "Service Unavailable"},
    std::pair{504, "Gateway Timeout"},
    std::pair{505, "HTTP Version Not Supported"},
};

}  // namespace

http_error to_http(const msg::request_failed& failed) {
  const row found = row_of(failed.code);
  http_error out;
  out.status = found.status;
  out.type = found.type;
  out.code = found.code;
  out.message = failed.message;
  out.param = failed.param;
  out.retry_after_ms = failed.retry_after_ms != 0 ? failed.retry_after_ms : found.retry_after_ms;
  out.give_up = found.give_up && failed.retry_after_ms == 0;
  return out;
}

http_error invalid_value(std::string param, std::string message) {
  return {400, client_fault, "invalid_value", std::move(message), std::move(param)};
}

http_error unsupported_value(std::string param, std::string message) {
  return {400, client_fault, "unsupported_value", std::move(message), std::move(param)};
}

http_error model_not_found(const std::string& model) {
  return {404, client_fault, "model_not_found", "the model '" + model + "' does not exist", "model"};
}

http_error edge_error(int status, std::string code, std::string message) {
  return {status, status < 500 ? client_fault : server_fault, std::move(code), std::move(message), {}};
}

const char* reason_phrase(int status) noexcept {
  for (const auto& [number, phrase] : phrases) {
    if (number == status) return phrase;
  }
  return "Unknown";
}

}  // namespace infer::http
