// Embeddings as clients read them.
#include "protocol/http/embeddings_body.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <span>
#include <utility>

#include "protocol/http/status.h"

namespace infer::http {
namespace {

namespace json = boost::json;

/// The first `count` values, divided by their length.
std::vector<float> shortened(std::span<const msg::f32_bits> values, std::size_t count) {
  std::vector<float> out;
  double squares = 0;
  for (const msg::f32_bits value : values.first(count)) {
    out.push_back(value.value());
    squares += static_cast<double>(value.value()) * value.value();
  }
  if (count == values.size() || squares == 0) return out;
  for (float& x : out) x = static_cast<float>(x / std::sqrt(squares));
  return out;
}

json::value shape(const std::vector<float>& values, bool base64) {
  if (!base64) return json::array(values.begin(), values.end());
  std::string bytes;
  for (const float value : values) {
    const std::uint32_t bits = msg::f32_bits(value).bits;
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xFF);
  }
  return json::value(base64_of(bytes));
}

}  // namespace

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i) out += i <= count ? letters[group >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

parsed<json::object> embeddings_body(const call& call, const msg::text_transformed& event) {
  const std::size_t count = call.prompts();
  const std::size_t width = event.embeddings.size() / count;
  if (call.dimensions > width)
    return refuse(invalid_value("dimensions", "the model's embeddings have " + std::to_string(width) + " dimensions"));
  const std::size_t kept = call.dimensions == 0 ? width : call.dimensions;
  json::array data;
  for (std::size_t i = 0; i < count; ++i) {
    json::object one;
    one["object"] = "embedding";
    one["index"] = i;
    one["embedding"] = shape(shortened(std::span(event.embeddings).subspan(i * width, width), kept), call.base64);
    data.emplace_back(std::move(one));
  }
  json::object usage, out;
  usage["prompt_tokens"] = event.prompt_tokens;
  usage["total_tokens"] = event.prompt_tokens;
  out["object"] = "list";
  out["data"] = std::move(data);
  out["model"] = event.model;
  out["usage"] = std::move(usage);
  return out;
}

}  // namespace infer::http
