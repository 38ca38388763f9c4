// The raw client's body. It lies in a test source because tests are globbed.
#include "tests/actors/gateway/raw_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace infer::actors {

raw_client::raw_client(std::uint16_t port, int receive_buffer) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  if (receive_buffer != 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  const timeval patience{10, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const int yes = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) ADD_FAILURE() << "cannot connect";
}

raw_client::~raw_client() {
  close();
}
raw_client::raw_client(raw_client&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), in_(std::move(other.in_)) {}

void raw_client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the server may have hung up: the answer tells
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool raw_client::more() {
  char piece[65536];
  const ssize_t count = ::recv(socket_, piece, sizeof piece, 0);
  if (count > 0) in_.append(piece, static_cast<std::size_t>(count));
  return count > 0;
}

std::string raw_client::read_until(std::string_view mark) {
  std::size_t at = 0;
  while ((at = in_.find(mark)) == std::string::npos) {
    if (!more()) return std::exchange(in_, {});
  }
  std::string out = in_.substr(0, at + mark.size());
  in_.erase(0, out.size());
  return out;
}

raw_answer raw_client::answer(bool head_only) {
  raw_answer out;
  const std::string head = read_until("\r\n\r\n");
  if (!head.starts_with("HTTP/1.1 ")) return out;
  out.status = std::stoi(head.substr(9, 3));
  for (std::size_t at = head.find("\r\n") + 2; at + 2 < head.size();) {
    const std::size_t end = head.find("\r\n", at), colon = head.find(": ", at);
    std::string name = head.substr(at, colon - at);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    out.fields[name] = head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  if (head_only || out.status == 204 || out.status == 100) {
    out.complete = true;
  } else if (out.fields.contains("content-length")) {
    const std::size_t length = std::stoul(out.fields["content-length"]);
    while (in_.size() < length && more()) {
    }
    out.complete = in_.size() >= length;
    out.body = in_.substr(0, length);
    in_.erase(0, out.body.size());
  } else if (out.fields.contains("transfer-encoding")) {
    for (;;) {
      const std::string line = read_until("\r\n");
      if (!line.ends_with("\r\n")) return out;
      const std::size_t length = std::stoul(line, nullptr, 16);
      while (in_.size() < length + 2 && more()) {
      }
      if (in_.size() < length + 2) return out;
      out.body += in_.substr(0, length);
      in_.erase(0, length + 2);
      if (length == 0) break;
    }
    out.complete = true;
  } else {
    while (more()) {
    }
    out.body = std::exchange(in_, {});
    out.complete = true;
  }
  return out;
}

bool raw_client::ended() {
  char byte;
  return in_.empty() && ::recv(socket_, &byte, 1, 0) == 0;
}

void raw_client::half_close() {
  ::shutdown(socket_, SHUT_WR);
}

void raw_client::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

std::string post(std::string_view path, std::string_view body, std::string_view more_fields) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         std::string(more_fields) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

std::string get(std::string_view path, std::string_view more_fields) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(more_fields) + "\r\n";
}

}  // namespace infer::actors
