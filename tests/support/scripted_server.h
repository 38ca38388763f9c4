// An HTTP server on this machine whose every answer a test writes itself.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace infer::test_support {

/// Takes one connection after the other, reads a request's head, sends what `answer` makes of it and closes.
class scripted_server {
 public:
  explicit scripted_server(std::function<std::string(const std::string& head)> answer) : answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 16) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("no port to listen on");
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;
  ~scripted_server() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }

  const std::string& url() const { return url_; }
  /// The heads of all requests so far.
  std::vector<std::string> heads() const {
    const std::lock_guard lock(mutex_);
    return heads_;
  }

  /// A whole answer. `fields` end in CR LF each.
  static std::string text(const std::string& status, const std::string& body, const std::string& fields = {}) {
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n" +
           fields + "\r\n" + body;
  }

 private:
  void serve() {
    for (int client = accept(listener_, nullptr, nullptr); client >= 0; client = accept(listener_, nullptr, nullptr)) {
      std::string head;
      char piece[4096];
      while (head.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = recv(client, piece, sizeof piece, 0);
        if (got <= 0) break;
        head.append(piece, static_cast<std::size_t>(got));
      }
      {
        const std::lock_guard lock(mutex_);
        heads_.push_back(head);
      }
      const std::string out = answer_(head);
      for (std::size_t at = 0; at < out.size();) {
        const ssize_t put = send(client, out.data() + at, out.size() - at, MSG_NOSIGNAL);
        if (put <= 0) break;
        at += static_cast<std::size_t>(put);
      }
      close(client);
    }
  }

  std::function<std::string(const std::string&)> answer_;
  mutable std::mutex mutex_;
  std::vector<std::string> heads_;
  std::string url_;
  int listener_ = -1;
  std::thread thread_;
};

}  // namespace infer::test_support
