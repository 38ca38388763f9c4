// The blocking client against a server that says exactly what the test tells it to.
#include "actors/gateway/http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace infer::actors {
namespace {

/// Returns the port.
std::uint16_t listen_on_loopback(int listener) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&at), size) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    ADD_FAILURE() << "cannot listen";
  return ntohs(at.sin_port);
}

/// Takes one connection, reads one request, sends `pieces` one after the other and hangs up.
class one_answer {
 public:
  explicit one_answer(std::vector<std::string> pieces) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    port_ = listen_on_loopback(listener_);
    thread_ = std::thread([this, pieces = std::move(pieces)] { serve(pieces); });
  }
  ~one_answer() { request(); }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  /// What the client sent. Ends the server.
  const std::string& request() {
    if (thread_.joinable()) thread_.join();
    if (listener_ >= 0) ::close(std::exchange(listener_, -1));
    return request_;
  }

 private:
  void serve(const std::vector<std::string>& pieces) {
    const int socket = ::accept(listener_, nullptr, nullptr);
    char buffer[4096];
    while (!whole()) {
      const ssize_t count = ::recv(socket, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      request_.append(buffer, static_cast<std::size_t>(count));
    }
    for (const std::string& piece : pieces) ::send(socket, piece.data(), piece.size(), MSG_NOSIGNAL);
    ::close(socket);
  }

  bool whole() const {
    const auto head = request_.find("\r\n\r\n");
    const auto field = request_.find("Content-Length: ");
    if (head == std::string::npos || field == std::string::npos) return false;
    return request_.size() >= head + 4 + std::stoul(request_.substr(field + 16));
  }

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::string request_;
  std::thread thread_;
};

std::string answer(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(HttpPost, SendsTheBodyWithItsFieldsAndReturnsTheAnswer) {
  one_answer server({answer("200 OK", "{\"a\":1}")});
  const auto got = http_post(server.url() + "/prefix/", "/v1/tokenize", "{\"content\":\"x\"}", "secret", {});
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got.value().status, 200u);
  EXPECT_EQ(got.value().body, "{\"a\":1}");
  const std::string& request = server.request();
  EXPECT_TRUE(request.starts_with("POST /prefix/v1/tokenize HTTP/1.1\r\n")) << request;
  EXPECT_NE(request.find("\r\nHost: 127.0.0.1:"), std::string::npos) << request;
  EXPECT_NE(request.find("\r\nContent-Type: application/json\r\n"), std::string::npos) << request;
  EXPECT_NE(request.find("\r\nAuthorization: Bearer secret\r\n"), std::string::npos) << request;
  EXPECT_TRUE(request.ends_with("\r\n\r\n{\"content\":\"x\"}")) << request;
}

/// "host port prefix Host" of an address.
std::string taken_apart(std::string_view url) {
  const auto got = read_server_address(url);
  if (!got) return "refused";
  const server_address& to = got.value();
  return to.host + " " + to.port + " " + to.prefix + " " + to.host_field();
}

TEST(ServerAddress, IsAHostAPortAndWhatPathsBeginWith) {
  EXPECT_EQ(taken_apart("http://127.0.0.1:8080"), "127.0.0.1 8080  127.0.0.1:8080");
  EXPECT_EQ(taken_apart("http://localhost/"), "localhost 80  localhost:80");
  EXPECT_EQ(taken_apart("http://[::1]:8080"), "::1 8080  [::1]:8080");
  EXPECT_EQ(taken_apart("http://[::1]"), "::1 80  [::1]:80");
  EXPECT_EQ(taken_apart("http://host:81/a/b//"), "host 81 /a/b host:81");
  EXPECT_EQ(taken_apart("http://host/a:b"), "host 80 /a:b host:80");
  EXPECT_EQ(taken_apart("http://host/v1/"), "host 80  host:80") << "as OpenAI's clients have it";
  EXPECT_EQ(taken_apart("http://host/a/v1"), "host 80 /a host:80");
  for (const char* url : {"", "host:80", "https://host", "http://", "http://:80", "http://host:", "http:///a",
                          "http://host/a?b", "http://host/#b", "http://host/a b", "http://host?x"})
    EXPECT_EQ(taken_apart(url), "refused") << url;
}

TEST(HttpPost, SendsNoKeyWhereThereIsNone) {
  one_answer server({answer("200 OK", "")});
  ASSERT_TRUE(http_post(server.url(), "/", "", "", {}));
  EXPECT_EQ(server.request().find("Authorization"), std::string::npos);
}

TEST(HttpPost, HandsOnTheChunksOfAStream) {
  one_answer server({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "6\r\ndata: \r\n", "3\r\none\r",
                     "\n5\r\n\ntwo\n\r\n", "0\r\n\r\n"});
  std::string data;
  const auto got = http_post(server.url(), "/", "{}", "", [&](std::string_view piece) { data += piece; });
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(data, "data: one\ntwo\n");
  EXPECT_EQ(got.value().body, "");
}

TEST(HttpPost, HandsOnALongAnswerWhole) {
  const std::string body(1'000'000, 'x');
  one_answer server({answer("200 OK", body)});
  std::string data;
  ASSERT_TRUE(http_post(server.url(), "/", "{}", "", [&](std::string_view piece) { data += piece; }));
  EXPECT_EQ(data, body);
}

TEST(HttpPost, KeepsTheBodyOfARefusalForItself) {
  one_answer server({answer("404 Not Found", "{\"error\":{}}")});
  bool called = false;
  const auto got = http_post(server.url(), "/", "{}", "", [&](std::string_view) { called = true; });
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got.value().status, 404u);
  EXPECT_EQ(got.value().body, "{\"error\":{}}");
  EXPECT_FALSE(called);
}

TEST(HttpPost, SaysThatAnAnswerBrokeOff) {
  one_answer server({"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"});
  const auto got = http_post(server.url(), "/", "{}", "", {});
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message().find("the answer broke off"), std::string::npos) << got.error().message();
}

TEST(HttpPost, SaysThatNoAnswerCame) {
  one_answer server({});
  const auto got = http_post(server.url(), "/", "{}", "", {});
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message().find("the server did not answer"), std::string::npos) << got.error().message();
}

TEST(HttpPost, SaysThatNobodyListens) {
  std::string url;
  {
    one_answer server({answer("200 OK", "")});
    url = server.url();
    ASSERT_TRUE(http_post(url, "/", "", "", {}));
  }
  const auto got = http_post(url, "/", "{}", "", {});
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message().find("cannot connect to " + url), std::string::npos) << got.error().message();
}

/// Takes connections and never answers; says when the client has hung up.
class silent_server {
 public:
  explicit silent_server(std::string first) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    port_ = listen_on_loopback(listener_);
    thread_ = std::thread([this, first = std::move(first)] {
      const int socket = ::accept(listener_, nullptr, nullptr);
      ::send(socket, first.data(), first.size(), MSG_NOSIGNAL);
      char buffer[4096];
      while (::recv(socket, buffer, sizeof buffer, 0) > 0) {
      }
      ::close(socket);
    });
  }
  ~silent_server() {
    thread_.join();
    ::close(listener_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

TEST(HttpPost, HangsUpWhenItIsCancelledWhileNoAnswerComes) {
  silent_server server("");
  std::atomic<bool> cancel{false};
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel = true;
  });
  const auto got = http_post(server.url(), "/", "{}", "", {}, &cancel);
  user.join();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, std::errc::operation_canceled);
}

TEST(HttpPost, HangsUpWhenItIsCancelledInAStream) {
  silent_server server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ndata: \r\n");
  std::atomic<bool> cancel{false};
  std::string data;
  const auto got = http_post(
      server.url(), "/", "{}", "",
      [&](std::string_view piece) {
        data += piece;
        cancel = true;
      },
      &cancel);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, std::errc::operation_canceled);
  EXPECT_EQ(data, "data: ");
}

TEST(HttpPost, HangsUpWhenItIsCancelledInAStreamThatNeverPauses) {
  const std::string body(1 << 20, 'x');
  one_answer server({answer("200 OK", body)});
  std::atomic<bool> cancel{false};
  std::size_t seen = 0;
  const auto got = http_post(
      server.url(), "/", "{}", "",
      [&](std::string_view piece) {
        seen += piece.size();
        cancel = true;
      },
      &cancel);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, std::errc::operation_canceled);
  EXPECT_LE(seen, 8192);
}

TEST(HttpPost, RefusesWhatIsNoAddress) {
  for (const char* url : {"", "127.0.0.1:80", "https://127.0.0.1", "http://", "http://:80", "http://127.0.0.1:"}) {
    const auto got = http_post(url, "/", "{}", "", {});
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().code, std::errc::invalid_argument) << url;
    EXPECT_NE(got.error().message().find("http://HOST:PORT"), std::string::npos) << got.error().message();
  }
}

}  // namespace
}  // namespace infer::actors
