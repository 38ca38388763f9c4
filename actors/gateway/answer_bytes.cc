// HTTP answers as bytes.
#include "actors/gateway/answer_bytes.h"

#include <charconv>
#include <ctime>

#include "protocol/http/status.h"

namespace infer::actors {
namespace {

void add_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

}  // namespace

std::string render_head(const answer_start& start) {
  std::string out = "HTTP/1.1 " + std::to_string(start.status) + " " + http::reason_phrase(start.status) + "\r\n";
  add_field(out, "Server", "infer-node");
  add_field(out, "Date", http_date());
  if (!start.content_type.empty()) add_field(out, "Content-Type", start.content_type);
  if (start.length) add_field(out, "Content-Length", std::to_string(*start.length));
  if (start.chunked) add_field(out, "Transfer-Encoding", "chunked");
  add_field(out, "Connection", start.keep_alive ? "keep-alive" : "close");
  if (start.keep_alive) add_field(out, "Keep-Alive", "timeout=" + std::to_string(start.keep_alive_seconds));
  for (const auto& [name, value] : start.more) add_field(out, name, value);
  out += "\r\n";
  return out;
}

std::string chunk_of(std::string_view bytes) {
  if (bytes.empty()) return {};
  char size[20];
  const auto end = std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr;
  std::string out(size, end);
  out += "\r\n";
  out += bytes;
  out += "\r\n";
  return out;
}

header_fields retry_fields(const http::http_error& error) {
  header_fields out;
  if (error.retry_after_ms != 0) {
    out.emplace_back("Retry-After", std::to_string((std::uint64_t{error.retry_after_ms} + 999) / 1000));
    out.emplace_back("retry-after-ms", std::to_string(error.retry_after_ms));
  }
  if (error.give_up) out.emplace_back("x-should-retry", "false");
  return out;
}

header_fields cors_fields(const request_head& head) {
  const std::string_view origin = head.find("origin");
  if (origin.empty()) return {};
  return {{"Access-Control-Allow-Origin", std::string(origin)},
          {"Access-Control-Allow-Credentials", "true"},
          {"Access-Control-Expose-Headers", "x-request-id, retry-after"},
          {"Vary", "Origin"}};
}

header_fields preflight_fields(const request_head& head) {
  header_fields out = cors_fields(head);
  const std::string_view wanted = head.find("access-control-request-headers");
  out.emplace_back("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS");
  out.emplace_back("Access-Control-Allow-Headers",
                   wanted.empty() ? "authorization, content-type, x-api-key" : std::string(wanted));
  out.emplace_back("Access-Control-Max-Age", "86400");
  if (head.find("access-control-request-private-network") == "true")
    out.emplace_back("Access-Control-Allow-Private-Network", "true");
  return out;
}

}  // namespace infer::actors
