// Beast's parser behind a plain face.
#include "actors/gateway/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/verb.hpp>

#include "protocol/http/status.h"

namespace infer::actors {
namespace {

namespace beast_http = boost::beast::http;
using boost::beast::string_view;

std::string lower(string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace

struct request_reader::parser final : beast_http::basic_parser<true> {
  explicit parser(std::size_t limit) : head_limit(limit) {
    header_limit(static_cast<std::uint32_t>(limit));
    body_limit(boost::none);
  }

  request_head head;
  std::size_t head_bytes = 0;
  const std::size_t head_limit;  // Beast's own limit holds for what it is fed at a time only
  std::string body;
  bool announced = false;
  bool discard = false;
  http::http_error failure;

  /// Whether the body comes in any other form than as it is or in chunks.
  bool has_other_coding() const {
    const auto is_coding = [](const auto& field) { return field.first == "transfer-encoding"; };
    const auto is_chunked = [&](const auto& field) { return is_coding(field) && lower(field.second) == "chunked"; };
    const auto codings = std::ranges::count_if(head.fields, is_coding);
    return codings != std::ranges::count_if(head.fields, is_chunked) || codings > 1;
  }

 private:
  using error_code = boost::beast::error_code;

  void on_request_impl(beast_http::verb, string_view method, string_view target, int version, error_code&) override {
    head.method = std::string(method);
    head.target = std::string(target);
    head.is_http_1_1 = version >= 11;
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(beast_http::field, string_view name, string_view value, error_code&) override {
    if (!announced) head.fields.emplace_back(lower(name), std::string(value));  // later ones are trailers
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view piece, error_code&) override { return append(piece); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view piece, error_code&) override { return append(piece); }
  void on_finish_impl(error_code&) override {}

  std::size_t append(string_view piece) {
    if (!discard) body.append(piece.data(), piece.size());
    return piece.size();
  }
};

request_reader::request_reader(std::size_t header_limit) : parser_(std::make_unique<parser>(header_limit)) {}
request_reader::~request_reader() = default;

request_reader::progress request_reader::feed(std::string_view bytes, std::size_t& used) {
  used = 0;
  parser& p = *parser_;
  while (!p.is_done() && used < bytes.size()) {
    boost::beast::error_code bad;
    const std::size_t step = p.put(boost::asio::const_buffer(bytes.data() + used, bytes.size() - used), bad);
    used += step;
    if (!p.announced) p.head_bytes += step;
    if (bad == beast_http::error::header_limit || p.head_bytes > p.head_limit) {
      p.failure = http::edge_error(431, "headers_too_large", "the request's header fields are too large");
      return progress::failed;
    }
    if (bad == beast_http::error::need_more) return progress::more;
    if (bad) {
      p.failure = http::edge_error(400, "bad_request", "the request is not valid HTTP: " + bad.message());
      return progress::failed;
    }
    if (p.is_header_done() && !p.announced) break;
  }
  if (p.is_header_done() && !p.announced) {
    p.announced = true;
    p.head.chunked = p.chunked();
    if (const auto length = p.content_length()) p.head.content_length = *length;
    p.head.keep_alive = p.keep_alive();
    if (p.has_other_coding()) {
      // Read on, the body would be taken for what it is not, or for further requests.
      p.failure = http::edge_error(501, "unsupported_transfer_encoding", "the only transfer coding is chunked");
      return progress::failed;
    }
    return progress::head;
  }
  return p.is_done() ? progress::complete : progress::more;
}

request_head& request_reader::head() {
  return parser_->head;
}
std::string& request_reader::body() {
  return parser_->body;
}
void request_reader::discard_body() {
  parser_->discard = true;
  parser_->body = {};
}
const http::http_error& request_reader::error() const {
  return parser_->failure;
}

}  // namespace infer::actors
