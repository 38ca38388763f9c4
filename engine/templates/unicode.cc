// Character handling over utf8proc.
#include "engine/templates/unicode.h"

#include <utf8proc.h>

#include <optional>
#include <vector>

namespace infer::templates {
namespace {

template <class Change>
std::string changed(std::string_view bytes, Change change) {
  std::string made;
  made.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const character one = first_character(bytes.substr(at));
    if (one.bytes == 1 && one.code >= 0x80) {
      made.push_back(bytes[at]);  // ill-formed: kept as it is
    } else {
      change(made, one.code);
    }
    at += one.bytes;
  }
  return made;
}

void append_upper(std::string& made, char32_t code) {
  if (code == 0xDF) {
    made += "SS";
  } else {
    append_character(made, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code))));
  }
}

void append_title(std::string& made, char32_t code) {
  if (code == 0xDF) {
    made += "Ss";
  } else {
    append_character(made, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(code))));
  }
}

void append_lower(std::string& made, char32_t code) {
  append_character(made, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
}

utf8proc_category_t category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

bool all_cased(std::string_view bytes, utf8proc_category_t wanted, utf8proc_category_t other) {
  bool any = false;
  for (std::size_t at = 0; at < bytes.size();) {
    const character one = first_character(bytes.substr(at));
    const auto kind = category(one.code);
    if (kind == other || kind == UTF8PROC_CATEGORY_LT) return false;
    any |= kind == wanted;
    at += one.bytes;
  }
  return any;
}

}  // namespace

character first_character(std::string_view bytes) {
  utf8proc_int32_t code = -1;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(bytes.data()),
                                       static_cast<utf8proc_ssize_t>(bytes.size()), &code);
  if (length <= 0) return {static_cast<std::uint8_t>(bytes.front()), 1};
  return {static_cast<char32_t>(code), static_cast<std::size_t>(length)};
}

std::size_t count_characters(std::string_view bytes) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < bytes.size(); ++count) at += first_character(bytes.substr(at)).bytes;
  return count;
}

std::size_t offset_of_character(std::string_view bytes, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < bytes.size(); --index) at += first_character(bytes.substr(at)).bytes;
  return at;
}

void append_character(std::string& bytes, char32_t code) {
  utf8proc_uint8_t room[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), room);
  bytes.append(reinterpret_cast<const char*>(room), static_cast<std::size_t>(length));
}

bool is_space(char32_t code) {
  return (code >= 0x9 && code <= 0xD) || (code >= 0x1C && code <= 0x20) || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
         code == 0x205F || code == 0x3000;
}

std::string to_upper(std::string_view bytes) {
  return changed(bytes, append_upper);
}

std::string to_lower(std::string_view bytes) {
  return changed(bytes, append_lower);
}

std::string capitalize(std::string_view bytes) {
  bool first = true;
  return changed(bytes, [&](std::string& made, char32_t code) {
    first ? append_title(made, code) : append_lower(made, code);
    first = false;
  });
}

std::string title_case(std::string_view bytes) {
  bool inside = false;
  return changed(bytes, [&](std::string& made, char32_t code) {
    inside ? append_lower(made, code) : append_title(made, code);
    const auto kind = category(code);
    inside = kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LL || kind == UTF8PROC_CATEGORY_LT;
  });
}

std::string swap_case(std::string_view bytes) {
  return changed(bytes, [](std::string& made, char32_t code) {
    const auto kind = category(code);
    if (kind == UTF8PROC_CATEGORY_LL)
      append_upper(made, code);
    else if (kind == UTF8PROC_CATEGORY_LU)
      append_lower(made, code);
    else
      append_character(made, code);
  });
}

bool is_upper(std::string_view bytes) {
  return all_cased(bytes, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL);
}

bool is_lower(std::string_view bytes) {
  return all_cased(bytes, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LU);
}

bool is_letter(char32_t code) {
  const auto kind = category(code);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_digit(char32_t code) {
  return category(code) == UTF8PROC_CATEGORY_ND;
}

bool is_printable(char32_t code) {
  const auto kind = category(code);
  return code == ' ' || (kind != UTF8PROC_CATEGORY_CN && kind < UTF8PROC_CATEGORY_ZS);
}

namespace {

// A set of characters to ask often: a bit for each code, and for each ill-formed byte behind those.
class character_set {
 public:
  explicit character_set(std::string_view of) : has_(codes + 0x100) {
    for (std::size_t at = 0; at < of.size();) {
      const character one = first_character(of.substr(at));
      has_[index(one)] = true;
      at += one.bytes;
    }
  }
  bool has(const character& one) const { return has_[index(one)]; }

 private:
  static constexpr std::size_t codes = 0x110000;
  static std::size_t index(const character& one) {
    return one.bytes == 1 && one.code >= 0x80 ? codes + one.code : one.code;
  }
  std::vector<bool> has_;
};

}  // namespace

byte_range stripped(std::string_view bytes, const std::string_view* set, bool left, bool right) {
  constexpr std::size_t small = 64;  // up to here a search in the set costs less than to build one
  std::optional<character_set> large;
  if (set != nullptr && set->size() > small) large.emplace(*set);
  const auto drop = [&](std::size_t at, const character& one) {
    if (set == nullptr) return is_space(one.code);
    return large ? large->has(one) : set->find(bytes.substr(at, one.bytes)) != std::string_view::npos;
  };
  byte_range kept{0, bytes.size()};
  while (left && kept.begin < kept.end) {
    const character one = first_character(bytes.substr(kept.begin));
    if (!drop(kept.begin, one)) break;
    kept.begin += one.bytes;
  }
  while (right && kept.begin < kept.end) {
    std::size_t start = kept.end - 1;
    while (start > kept.begin && kept.end - start < 4 && (static_cast<std::uint8_t>(bytes[start]) & 0xC0) == 0x80) {
      --start;
    }
    character one = first_character(bytes.substr(start));
    if (start + one.bytes != kept.end) {  // ill-formed: one byte at a time
      start = kept.end - 1;
      one = first_character(bytes.substr(start, 1));
    }
    if (!drop(start, one)) break;
    kept.end = start;
  }
  return kept;
}

}  // namespace infer::templates
