// The alphabet in which byte-level vocabularies write bytes: every byte is one printable code point.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace infer::tokenize {

/// The code point of a byte: itself where it is printable Latin-1, else U+0100 and up in byte order.
char32_t byte_to_letter(std::uint8_t byte) noexcept;

/// The bytes that `piece` (UTF-8) writes, or nothing where a character is outside the alphabet.
std::optional<std::string> letters_to_bytes(std::string_view piece);

/// The other way round: UTF-8 of one letter per byte.
std::string bytes_to_letters(std::string_view bytes);

}  // namespace infer::tokenize
