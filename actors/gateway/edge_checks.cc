// Checks on the head of a request.
#include "actors/gateway/edge_checks.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <random>

namespace infer::actors {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

bool equal_in_constant_time(std::string_view given, std::string_view key) {
  unsigned difference = given.size() == key.size() ? 0 : 1;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const unsigned char other = i < given.size() ? static_cast<unsigned char>(given[i]) : 0;
    difference |= static_cast<unsigned>(other ^ static_cast<unsigned char>(key[i]));
  }
  return difference == 0;
}

/// Which of the keys it is, from 1 on; 0: none.
std::uint64_t number_of(std::string_view given, const std::vector<std::string>& keys) {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) found = equal_in_constant_time(given, keys[i]) ? i + 1 : found;
  return given.empty() ? 0 : found;
}

/// Host and port without the port that the scheme implies.
std::string authority_of(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return {};
  std::string authority = lower(origin.substr(scheme + 3));
  const std::string_view implied = lower(origin.substr(0, scheme)) == "https" ? ":443" : ":80";
  if (authority.ends_with(implied)) authority.resize(authority.size() - implied.size());
  return authority;
}

/// "[::1]" of "[::1]:80".
std::string without_port(std::string authority) {
  const std::size_t port = authority.rfind(':');
  if (port != std::string::npos && authority.find(']', port) == std::string::npos) authority.resize(port);
  return authority;
}

bool is_localhost(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost");
}

bool is_ip_address(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::system::error_code bad;
  boost::asio::ip::make_address(std::string(host), bad);
  return !bad;
}

bool is_loopback(const std::string& address) {
  boost::system::error_code bad;
  const auto ip = boost::asio::ip::make_address(address, bad);
  return is_localhost(address) || (!bad && ip.is_loopback());
}

/// An origin that neither a page of the web nor a browser's extension has: one of this machine, or of a program with a
/// scheme of its own (app://…).
bool is_local(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;
  if (const std::string name = lower(origin.substr(0, scheme)); name != "http" && name != "https")
    return !name.ends_with("-extension");
  const std::string host = without_port(lower(origin.substr(scheme + 3)));
  return is_localhost(host) || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace

std::optional<std::uint64_t> caller_of(const request_head& head, const std::vector<std::string>& keys) {
  if (keys.empty()) return 0;
  std::string_view bearer = head.find("authorization");
  constexpr std::string_view scheme = "bearer ";
  if (lower(bearer.substr(0, scheme.size())) == scheme) {
    bearer.remove_prefix(scheme.size());
    while (bearer.starts_with(' ')) bearer.remove_prefix(1);
  } else {
    bearer = {};
  }
  std::uint64_t found = 0;
  for (const std::string_view given : {bearer, head.find("x-api-key"), head.find("api-key")})
    found = std::max(found, number_of(given, keys));
  if (found == 0) return std::nullopt;
  return found;
}

bool is_allowed_origin(const request_head& head, const std::vector<std::string>& allowed, const std::string& address) {
  const std::string_view origin = head.find("origin");
  if (origin.empty() || is_local(origin)) return true;
  for (const std::string& one : allowed) {
    if (one == "*" || lower(one) == lower(origin)) return true;
  }
  std::string host = lower(head.find("host"));
  if (host.ends_with(":80")) host.resize(host.size() - 3);
  if (host.ends_with(":443")) host.resize(host.size() - 4);
  if (host.empty() || authority_of(origin) != host) return false;
  const std::string name = without_port(host);
  return !is_loopback(address) || is_localhost(name) || is_ip_address(name);
}

bool is_readable_type(const request_head& head) {
  const std::string coding = lower(head.find("content-encoding"));
  if (!coding.empty() && coding != "identity") return false;
  const std::string_view field = head.find("content-type");
  const std::string type = lower(field.substr(0, field.find_first_of("; ")));
  if (type.ends_with("+json") || type.ends_with("/json")) return true;
  for (const std::string_view wrong : {"multipart/", "image/", "audio/", "video/", "font/"}) {
    if (type.starts_with(wrong)) return false;
  }
  return type != "text/xml" && type != "application/xml" && !type.ends_with("+xml") && type != "text/html" &&
         type != "text/css" && type != "application/pdf" && type != "application/zip";
}

std::string request_id_of(const request_head& head) {
  const std::string_view given = head.find("x-request-id");
  const bool sane = !given.empty() && given.size() <= 128 && std::all_of(given.begin(), given.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == ':' || c == '/' || c == '=' || c == '+';
  });
  if (sane) return std::string(given);
  thread_local std::mt19937_64 random{(std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}()};
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id = "req_";
  for (int i = 0; i < 24; ++i) id += digits[random() % digits.size()];
  return id;
}

}  // namespace infer::actors
