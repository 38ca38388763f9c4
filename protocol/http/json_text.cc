// Reading and writing JSON.
#include "protocol/http/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "engine/json/read.h"

namespace infer::http {
namespace {

namespace json = boost::json;

constexpr std::string_view replacement = "\xEF\xBF\xBD";

http_error invalid_json(std::string what, std::string_view text, std::size_t at) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < at && i < text.size(); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n' ? 1 : 0;
  }
  return {400,
          "invalid_request_error",
          "invalid_json",
          "the body is not valid JSON: " + std::move(what) + " at byte " + std::to_string(at) + " (line " +
              std::to_string(line) + ", column " + std::to_string(column) + ")",
          {}};
}

/// The code unit of "\uXXXX" at `at`, or -1.
int escaped_unit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return -1;
  int unit = 0;
  const char* const first = text.data() + at + 2;
  const auto [end, bad] = std::from_chars(first, first + 4, unit, 16);
  return bad == std::errc{} && end == first + 4 ? unit : -1;
}

bool is_high(int unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(int unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

/// Replaces the escape at `at` where it is half of a pair without its other half; returns how many bytes are done.
std::size_t mend_escape(std::string& text, std::size_t at) {
  const int unit = escaped_unit(text, at);
  if (unit < 0) return 2;
  if (is_high(unit) && is_low(escaped_unit(text, at + 6))) return 12;
  if (is_high(unit) || is_low(unit)) text.replace(at, 6, "\\ufffd");
  return 6;
}

/// Mends surrogates and counts brackets; answers where the nesting becomes too deep, or npos.
std::size_t prepare(std::string& text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (quoted && c == '\\') {
      i += mend_escape(text, i);
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{') && ++depth > json_depth_limit) return i;
    if (!quoted && (c == ']' || c == '}') && depth > 0) --depth;
    ++i;
  }
  return std::string::npos;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Bytes of the UTF-8 sequence at `at`; 0 where there is none. Overlong forms and surrogates are none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(at + 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80, high = lead == 0xED ? 0x9F : 0xBF;
    return follows(at + 1, low, high) && follows(at + 2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80, high = lead == 0xF4 ? 0x8F : 0xBF;
    return follows(at + 1, low, high) && follows(at + 2) && follows(at + 3) ? 4 : 0;
  }
  return 0;
}

void append_control(std::string& out, unsigned char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (c) {
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
  }
}

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "null";
    return;
  }
  if (std::isinf(value)) value = std::copysign(std::numeric_limits<double>::max(), value);
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  const std::string_view text(digits, static_cast<std::size_t>(written.ptr - digits));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void append_value(std::string& out, const json::value& value);

void append_object(std::string& out, const json::object& object) {
  out += '{';
  bool first = true;
  for (const auto& member : object) {
    if (!first) out += ',';
    first = false;
    append_quoted(out, {member.key().data(), member.key().size()});
    out += ':';
    append_value(out, member.value());
  }
  out += '}';
}

void append_array(std::string& out, const json::array& array) {
  out += '[';
  bool first = true;
  for (const json::value& item : array) {
    if (!first) out += ',';
    first = false;
    append_value(out, item);
  }
  out += ']';
}

void append_value(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      break;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case json::kind::int64:
      out += std::to_string(value.get_int64());
      break;
    case json::kind::uint64:
      out += std::to_string(value.get_uint64());
      break;
    case json::kind::double_:
      append_number(out, value.get_double());
      break;
    case json::kind::string:
      append_quoted(out, {value.get_string().data(), value.get_string().size()});
      break;
    case json::kind::array:
      append_array(out, value.get_array());
      break;
    case json::kind::object:
      append_object(out, value.get_object());
      break;
  }
}

}  // namespace

parsed<json::value> parse_json(std::string body) {
  if (body.starts_with("\xEF\xBB\xBF")) body.replace(0, 3, "   ");
  std::size_t end = body.size();
  while (end > 0 && is_space(body[end - 1])) --end;
  if (end == 0) return refuse(invalid_json("it is empty", body, 0));
  if (const std::size_t deep = prepare(body); deep != std::string::npos)
    return refuse(invalid_json("nested deeper than " + std::to_string(json_depth_limit) + " levels", body, deep));
  json::error_code bad;
  json_prefix read = read_json_prefix(std::string_view(body).substr(0, end), bad, json_depth_limit + 1);
  if (bad) return refuse(invalid_json(bad.message(), body, read.bytes));
  if (read.bytes < end) return refuse(invalid_json("text after the value", body, read.bytes));
  return std::move(read.value);
}

std::uint64_t characters(std::string_view text) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string write_json(const json::value& value) {
  std::string out;
  append_value(out, value);
  return out;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i++];
    } else if (c < 0x20) {
      append_control(out, c);
      ++i;
    } else if (text.substr(i, 3) == "\xE2\x80\xA8" || text.substr(i, 3) == "\xE2\x80\xA9") {
      out += text[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";  // line ends to some readers of event streams
      i += 3;
    } else if (const std::size_t length = sequence_length(text, i)) {
      out += text.substr(i, length);
      i += length;
    } else {
      out += replacement;
      ++i;
    }
  }
  out += '"';
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    out += length ? text.substr(i, length) : replacement;
    i += length ? length : 1;
  }
  return out;
}

}  // namespace infer::http
