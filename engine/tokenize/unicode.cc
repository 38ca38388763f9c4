// Unicode's tables from utf8proc. Marks are put in order here: utf8proc's own way takes quadratic time on long runs.
#include "engine/tokenize/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "engine/tokenize/utf8.h"

namespace infer::tokenize {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

void append_decomposed(char32_t character, int options, std::vector<utf8proc_int32_t>& out) {
  std::array<utf8proc_int32_t, 32> buffer;  // the longest decomposition has 18 characters
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character), buffer.data(), buffer.size(),
                                             static_cast<utf8proc_option_t>(options), nullptr);
  if (count < 0 || static_cast<std::size_t>(count) > buffer.size()) {
    out.push_back(static_cast<utf8proc_int32_t>(character));
  } else {
    out.insert(out.end(), buffer.begin(), buffer.begin() + count);
  }
}

int combining_class(utf8proc_int32_t character) {
  return character < 0x300 ? 0 : utf8proc_get_property(character)->combining_class & 0xFF;
}

/// Sorts a run of marks by class and leaves equal ones in their order.
void sort_marks(std::span<utf8proc_int32_t> marks) {
  if (std::ranges::is_sorted(marks, {}, combining_class)) return;
  std::array<std::vector<utf8proc_int32_t>, 256> by_class;  // classes are bytes
  for (const utf8proc_int32_t mark : marks) by_class[static_cast<std::size_t>(combining_class(mark))].push_back(mark);
  std::size_t at = 0;
  for (const auto& some : by_class) {
    for (const utf8proc_int32_t mark : some) marks[at++] = mark;
  }
}

/// Canonical order: every run of marks ascends by class.
void order_marks(std::span<utf8proc_int32_t> characters) {
  for (std::size_t at = 0; at < characters.size(); ++at) {
    std::size_t end = at;
    while (end < characters.size() && combining_class(characters[end]) != 0) ++end;
    if (end > at + 1) sort_marks(characters.subspan(at, end - at));
    at = end;
  }
}

}  // namespace

char32_t first_character(std::string_view text, std::size_t& length) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) {
    length = 1;
    return lead;
  }
  length = std::min<std::size_t>(lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4, text.size());
  char32_t character = lead & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  return character;
}

std::size_t last_length(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && (text[text.size() - length] & 0xC0) == 0x80) ++length;
  return length;
}

void append_character(char32_t character, std::string& out) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes.data());
  out.append(bytes.begin(), bytes.begin() + count);
}

bool is_space(char32_t character) {
  if (character < 0x80) return character == ' ' || (character >= 9 && character <= 13);
  return character == 0x85 || character == 0xA0 || character == 0x1680 ||
         (character >= 0x2000 && character <= 0x200A) || character == 0x2028 || character == 0x2029 ||
         character == 0x202F || character == 0x205F || character == 0x3000;
}

bool is_word(char32_t character) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(character))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    case UTF8PROC_CATEGORY_SO:  // circled and squared letters are Alphabetic
      return (character >= 0x24B6 && character <= 0x24E9) || (character >= 0x1F130 && character <= 0x1F149) ||
             (character >= 0x1F150 && character <= 0x1F169) || (character >= 0x1F170 && character <= 0x1F189);
    default:
      return character == 0x200C || character == 0x200D;
  }
}

void append_normalized(std::string_view text, normal_form form, std::string& out) {
  if (is_ascii(text)) {
    out.append(text);
    return;
  }
  const bool compatible = form == normal_form::nfkc || form == normal_form::nfkd;
  const bool composed = form == normal_form::nfc || form == normal_form::nfkc;
  const int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
  std::vector<utf8proc_int32_t> characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = 0;
    const char32_t character = first_character(text, length);
    text.remove_prefix(length);
    if (character < 0x80) {
      characters.push_back(static_cast<utf8proc_int32_t>(character));
    } else {
      append_decomposed(character, options, characters);
    }
  }
  order_marks(characters);
  std::size_t count = characters.size();
  if (composed) {
    const auto kept = utf8proc_normalize_utf32(characters.data(), static_cast<utf8proc_ssize_t>(count),
                                               static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    if (kept >= 0) count = static_cast<std::size_t>(kept);
  }
  for (std::size_t i = 0; i < count; ++i) append_character(static_cast<char32_t>(characters[i]), out);
}

void append_lowercase(std::string_view text, std::string& out) {
  while (!text.empty()) {
    std::size_t length = 0;
    const char32_t character = first_character(text, length);
    text.remove_prefix(length);
    if (character == 0x130) {  // the one character whose lower case is two
      out.append("i\xCC\x87");
    } else {
      append_character(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character))), out);
    }
  }
}

namespace {

bool is_mark(char32_t character) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(character));
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
}

}  // namespace

void append_without_accents(std::string_view text, std::string& out) {
  while (!text.empty()) {
    std::size_t length = 0;
    const char32_t character = first_character(text, length);
    if (character < 0x300 || !is_mark(character)) out.append(text.substr(0, length));
    text.remove_prefix(length);
  }
}

std::size_t grapheme_length(std::string_view text) {
  std::size_t total = 0, length = 0;
  utf8proc_int32_t state = 0;
  char32_t before = first_character(text, length);
  total = length;
  while (total < text.size()) {
    const char32_t next = first_character(text.substr(total), length);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before), static_cast<utf8proc_int32_t>(next),
                                         &state))
      break;
    total += length;
    before = next;
  }
  return total;
}

}  // namespace infer::tokenize
