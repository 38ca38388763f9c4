// Python's string escapes.
#include "engine/templates/string_literal.h"

#include <cstdint>

#include "engine/templates/unicode.h"

namespace infer::templates {
namespace {

// Reads up to `most` digits of `base`; false where there are fewer than `least`.
bool read_code(std::string_view body, std::size_t& at, int base, int least, int most, char32_t& code) {
  code = 0;
  std::size_t i = at;
  int count = 0;
  for (; count < most && i < body.size(); ++count, ++i) {
    const char c = body[i];
    int digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : 99;
    if (digit >= base) break;
    code = code * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
  }
  if (count < least) return false;
  at = i;
  return true;
}

bool is_surrogate(char32_t code) {
  return code >= 0xD800 && code < 0xE000;
}

// Takes the escape after the backslash; false where it is not one.
bool take_escape(std::string_view body, std::size_t& at, std::string& out) {
  const char kind = body[at];
  std::size_t after = at + 1;
  char32_t code = 0;
  switch (kind) {
    case '\n':
      break;
    case '\\':
    case '\'':
    case '"':
      out += kind;
      break;
    case 'a':
      out += '\a';
      break;
    case 'b':
      out += '\b';
      break;
    case 'f':
      out += '\f';
      break;
    case 'n':
      out += '\n';
      break;
    case 'r':
      out += '\r';
      break;
    case 't':
      out += '\t';
      break;
    case 'v':
      out += '\v';
      break;
    case 'x':
    case 'u':
    case 'U': {
      const int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
      if (!read_code(body, after, 16, digits, digits, code) || code > 0x10FFFF || is_surrogate(code)) return false;
      append_character(out, code);
      break;
    }
    default:
      after = at;
      if (!read_code(body, after, 8, 1, 3, code)) return false;
      append_character(out, code);
  }
  at = after;
  return true;
}

}  // namespace

std::string unescape(std::string_view body) {
  std::string out;
  out.reserve(body.size());
  for (std::size_t at = 0; at < body.size();) {
    if (body[at] == '\\' && at + 1 < body.size()) {
      ++at;
      if (!take_escape(body, at, out)) out += '\\';
    } else {
      out += body[at++];
    }
  }
  return out;
}

}  // namespace infer::templates
