// Characters of UTF-8 text as template strings count, compare and change them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace infer::templates {

struct character {
  char32_t code;
  std::size_t bytes;
};

/// The first character of non-empty bytes; an ill-formed byte counts as one character with its own value.
character first_character(std::string_view bytes);

std::size_t count_characters(std::string_view bytes);

/// The byte offset of character `index`; the size of `bytes` where there are fewer.
std::size_t offset_of_character(std::string_view bytes, std::size_t index);

void append_character(std::string& bytes, char32_t code);

/// White space as Python's str.isspace has it.
bool is_space(char32_t code);

std::string to_upper(std::string_view bytes);
std::string to_lower(std::string_view bytes);
/// First character upper case, the rest lower case.
std::string capitalize(std::string_view bytes);
/// Every letter after a non-letter upper case, the others lower case.
std::string title_case(std::string_view bytes);
/// Upper case letters lower case, lower case ones upper case.
std::string swap_case(std::string_view bytes);
/// At least one cased letter, all cased letters upper (or lower) case.
bool is_upper(std::string_view bytes);
bool is_lower(std::string_view bytes);
bool is_letter(char32_t code);
bool is_digit(char32_t code);
/// Whether repr shows the character itself rather than an escape.
bool is_printable(char32_t code);

/// [begin, end): what is left of `bytes` without leading and trailing characters that are in `set`; white space where
/// `set` is null.
struct byte_range {
  std::size_t begin, end;
};
byte_range stripped(std::string_view bytes, const std::string_view* set, bool left, bool right);

}  // namespace infer::templates
