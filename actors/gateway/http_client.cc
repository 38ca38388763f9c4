// The client over Beast.
#include "actors/gateway/http_client.h"

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

namespace infer::actors {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

struct address {
  std::string host, port = "80";
};

result<address> parse_url(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  const auto bad = [&] {
    return fail(error{std::make_error_code(std::errc::invalid_argument),
                      "'" + std::string(url) + "' is not a server's address; write http://HOST:PORT"});
  };
  if (!url.starts_with(scheme)) return bad();
  url.remove_prefix(scheme.size());
  url = url.substr(0, url.find('/'));
  address out;
  const auto colon = url.rfind(':');
  if (colon != std::string_view::npos && url.find(']', colon) == std::string_view::npos) {
    out.port = url.substr(colon + 1);
    url = url.substr(0, colon);
  }
  if (url.starts_with('[') && url.ends_with(']')) url = url.substr(1, url.size() - 2);
  out.host = url;
  if (out.host.empty() || out.port.empty()) return bad();
  return out;
}

auto failure(const boost::system::error_code& code, const std::string& what) {
  return fail(error{std::error_code(code), what + ": " + code.message()});
}

result<http_answer> read_answer(asio::ip::tcp::socket& socket, const std::function<void(std::string_view)>& on_data) {
  boost::system::error_code code;
  beast::flat_buffer buffer;
  beast::http::response_parser<beast::http::buffer_body> parser;
  parser.body_limit(boost::none);
  beast::http::read_header(socket, buffer, parser, code);
  if (code) return failure(code, "the server did not answer");
  http_answer out;
  out.status = parser.get().result_int();
  const bool hand_on = on_data && out.status / 100 == 2;
  std::array<char, 8192> piece{};
  while (!parser.is_done()) {
    parser.get().body().data = piece.data();
    parser.get().body().size = piece.size();
    beast::http::read_some(socket, buffer, parser, code);
    if (code == beast::http::error::need_buffer) code = {};
    if (code) return failure(code, "the answer broke off");
    const std::string_view data(piece.data(), piece.size() - parser.get().body().size);
    if (data.empty()) continue;
    if (hand_on)
      on_data(data);
    else
      out.body += data;
  }
  return out;
}

}  // namespace

result<http_answer> http_post(const std::string& base_url, std::string_view target, std::string body,
                              const std::string& api_key, const std::function<void(std::string_view)>& on_data) {
  INFER_TRY(const auto to, parse_url(base_url));
  boost::system::error_code code;
  asio::io_context context;
  asio::ip::tcp::resolver resolver(context);
  const auto endpoints = resolver.resolve(to.host, to.port, code);
  if (code) return failure(code, "cannot resolve " + to.host);
  asio::ip::tcp::socket socket(context);
  asio::connect(socket, endpoints, code);
  if (code) return failure(code, "cannot connect to " + base_url);

  beast::http::request<beast::http::string_body> request(beast::http::verb::post, std::string(target), 11);
  request.set(beast::http::field::host, to.host + ":" + to.port);
  request.set(beast::http::field::content_type, "application/json");
  if (!api_key.empty()) request.set(beast::http::field::authorization, "Bearer " + api_key);
  request.body() = std::move(body);
  request.prepare_payload();
  beast::http::write(socket, request, code);
  if (code) return failure(code, "cannot send the request");
  return read_answer(socket, on_data);
}

}  // namespace infer::actors
