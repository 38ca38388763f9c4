// The byte alphabet as two tables made at first use.
#include "engine/tokenize/byte_alphabet.h"

#include <array>

namespace infer::tokenize {
namespace {

constexpr char32_t first_extra = 0x100;
constexpr std::size_t extras = 68;

struct alphabet {
  std::array<char32_t, 256> letter{};
  std::array<std::int16_t, first_extra + extras> byte{};
};

constexpr alphabet make_alphabet() {
  alphabet made;
  for (auto& entry : made.byte) entry = -1;
  char32_t next = first_extra;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
    const char32_t letter = printable ? static_cast<char32_t>(byte) : next++;
    made.letter[byte] = letter;
    made.byte[letter] = static_cast<std::int16_t>(byte);
  }
  return made;
}

constexpr alphabet table = make_alphabet();

}  // namespace

char32_t byte_to_letter(std::uint8_t byte) noexcept {
  return table.letter[byte];
}

std::optional<std::string> letters_to_bytes(std::string_view piece) {
  std::string bytes;
  bytes.reserve(piece.size());
  for (std::size_t i = 0; i < piece.size(); ++i) {
    char32_t letter = static_cast<std::uint8_t>(piece[i]);
    if (letter >= 0x80) {  // every letter of the alphabet is below U+0800: two bytes
      if ((letter & 0xE0) != 0xC0 || i + 1 == piece.size()) return std::nullopt;
      letter = (letter & 0x1F) << 6 | (static_cast<std::uint8_t>(piece[++i]) & 0x3F);
    }
    if (letter >= table.byte.size() || table.byte[letter] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(table.byte[letter]));
  }
  return bytes;
}

std::string bytes_to_letters(std::string_view bytes) {
  std::string piece;
  for (const char byte : bytes) {
    const char32_t letter = byte_to_letter(static_cast<std::uint8_t>(byte));
    if (letter < 0x80) {
      piece.push_back(static_cast<char>(letter));
    } else {
      piece.push_back(static_cast<char>(0xC0 | letter >> 6));
      piece.push_back(static_cast<char>(0x80 | (letter & 0x3F)));
    }
  }
  return piece;
}

}  // namespace infer::tokenize
