// The client over Beast.
#include "actors/gateway/http_client.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>

namespace infer::actors {

std::string server_address::host_field() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + port;
}

result<server_address> read_server_address(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  const auto bad = [&] {
    return fail(error{std::make_error_code(std::errc::invalid_argument),
                      "'" + std::string(url) + "' is not a server's address; write http://HOST:PORT"});
  };
  if (!url.starts_with(scheme) || url.find_first_of("?# \t\r\n") != std::string_view::npos) return bad();
  std::string_view place = url.substr(scheme.size());
  std::string_view prefix = place.substr(std::min(place.find('/'), place.size()));
  place = place.substr(0, place.size() - prefix.size());
  const auto drop_slashes = [&] {
    while (prefix.ends_with('/')) prefix.remove_suffix(1);
  };
  drop_slashes();
  if (prefix.ends_with("/v1")) prefix.remove_suffix(3);
  drop_slashes();
  server_address out;
  out.prefix = prefix;
  const auto colon = place.rfind(':');
  if (colon != std::string_view::npos && place.find(']', colon) == std::string_view::npos) {
    out.port = place.substr(colon + 1);
    place = place.substr(0, colon);
  }
  if (place.starts_with('[') && place.ends_with(']')) place = place.substr(1, place.size() - 2);
  out.host = place;
  if (out.host.empty() || out.port.empty()) return bad();
  return out;
}

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

auto failure(const boost::system::error_code& code, const std::string& what) {
  return fail(error{std::error_code(code), what + ": " + code.message()});
}

/// One connection of one request. Every wait ends when `cancel` becomes true.
class exchange {
 public:
  explicit exchange(const std::atomic<bool>* cancel) : cancel_(cancel), stream_(context_) {}

  result<void> connect(const server_address& to, const std::string& base_url) {
    boost::system::error_code code;
    asio::ip::tcp::resolver resolver(context_);
    const auto endpoints = resolver.resolve(to.host, to.port, code);
    if (code) return failure(code, "cannot resolve " + to.host);
    return wait("cannot connect to " + base_url,
                [&](auto done) { stream_.async_connect(endpoints, [done](auto e, const auto&) { done(e); }); });
  }

  template <class Request>
  result<void> send(Request& request) {
    return wait("cannot send the request", [&](auto done) {
      beast::http::async_write(stream_, request, [done](auto e, std::size_t) { done(e); });
    });
  }

  result<http_answer> read_answer(const std::function<void(std::string_view)>& on_data) {
    beast::http::response_parser<beast::http::buffer_body> parser;
    parser.body_limit(boost::none);
    INFER_TRYV(wait("the server did not answer", [&](auto done) {
      beast::http::async_read_header(stream_, buffer_, parser, [done](auto e, std::size_t) { done(e); });
    }));
    http_answer out;
    out.status = parser.get().result_int();
    const bool hand_on = on_data && out.status / 100 == 2;
    std::array<char, 8192> piece{};
    while (!parser.is_done()) {
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      INFER_TRYV(wait("the answer broke off", [&](auto done) {
        beast::http::async_read_some(stream_, buffer_, parser, [done](auto e, std::size_t) {
          done(e == beast::http::error::need_buffer ? boost::system::error_code() : e);
        });
      }));
      const std::string_view data(piece.data(), piece.size() - parser.get().body().size);
      if (data.empty()) continue;
      if (hand_on)
        on_data(data);
      else
        out.body += data;
    }
    return out;
  }

 private:
  /// Starts an operation and runs it to its end.
  template <class Start>
  result<void> wait(const std::string& what, Start start) {
    boost::system::error_code code;
    bool is_done = false;
    start([&](const boost::system::error_code& e) {
      code = e;
      is_done = true;
    });
    context_.restart();
    while (!is_done && !is_cancelled()) context_.run_for(poll);
    if (is_cancelled()) {
      stream_.close();
      context_.run();  // the handler refers to what is on this stack
      return fail(error{std::make_error_code(std::errc::operation_canceled), "the request was cancelled"});
    }
    if (code) return failure(code, what);
    return success();
  }

  bool is_cancelled() const { return cancel_ != nullptr && cancel_->load(); }

  static constexpr std::chrono::milliseconds poll{20};
  const std::atomic<bool>* cancel_;
  asio::io_context context_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
};

}  // namespace

result<http_answer> http_post(const std::string& base_url, std::string_view target, std::string body,
                              const std::string& api_key, const std::function<void(std::string_view)>& on_data,
                              const std::atomic<bool>* cancel) {
  INFER_TRY(const auto to, read_server_address(base_url));
  beast::http::request<beast::http::string_body> request(beast::http::verb::post, to.prefix + std::string(target), 11);
  request.set(beast::http::field::host, to.host_field());
  request.set(beast::http::field::content_type, "application/json");
  if (!api_key.empty()) request.set(beast::http::field::authorization, "Bearer " + api_key);
  request.body() = std::move(body);
  request.prepare_payload();
  exchange x(cancel);
  INFER_TRYV(x.connect(to, base_url));
  INFER_TRYV(x.send(request));
  return x.read_answer(on_data);
}

}  // namespace infer::actors
