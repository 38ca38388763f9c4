// Escaping and cutting, by whole UTF-8 characters.
#include "engine/formats/quote.h"

#include <array>
#include <cstdio>

namespace infer::formats {
namespace {

/// Bytes of the UTF-8 character that begins at `text`, 0 where none does.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool beyond = (lead == 0xed && byte(1) >= 0xa0) || (lead == 0xf4 && byte(1) >= 0x90);
  return overlong || beyond ? 0 : length;
}

void append_escape(std::string& out, unsigned char byte) {
  switch (byte) {
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default: {
      std::array<char, 8> text{};
      std::snprintf(text.data(), text.size(), "\\x%02x", byte);
      out += text.data();
    }
  }
}

}  // namespace

std::string quote(std::string_view text, std::size_t limit) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_bytes(text.substr(at));
    const std::size_t step = length == 0 ? 1 : length;
    if (at + step > limit) {
      out += "…";
      break;
    }
    const auto first = static_cast<unsigned char>(text[at]);
    if (length == 0 || first < 0x20 || first == 0x7f) {
      append_escape(out, first);
    } else {
      if (first == '"' || first == '\\') out += '\\';
      out += text.substr(at, length);
    }
    at += step;
  }
  return out += '"';
}

}  // namespace infer::formats
