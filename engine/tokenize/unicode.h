// What tokenizers ask of Unicode: classes of characters, the normal forms, letter case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infer::tokenize {

enum class normal_form : std::uint8_t { nfc, nfd, nfkc, nfkd };

/// The first character of well-formed UTF-8 that is not empty; `length` receives its bytes.
char32_t first_character(std::string_view text, std::size_t& length);
/// The bytes of the last character.
std::size_t last_length(std::string_view text);
void append_character(char32_t character, std::string& out);

/// White_Space.
bool is_space(char32_t character);
/// What the \w of regular expressions matches: Alphabetic, marks, decimal digits, connectors, joiners.
bool is_word(char32_t character);

/// Append `text`, well-formed UTF-8, in another form. O(n log n) at worst, O(n) where characters have few marks.
void append_normalized(std::string_view text, normal_form form, std::string& out);
/// Lower case character by character, as no language writes it.
void append_lowercase(std::string_view text, std::string& out);
/// Without marks of any kind.
void append_without_accents(std::string_view text, std::string& out);

/// The bytes of the first extended grapheme cluster.
std::size_t grapheme_length(std::string_view text);

}  // namespace infer::tokenize
