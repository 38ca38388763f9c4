// Walks the double array of a precompiled character map; every index is checked, since the map comes with a file.
#include "engine/tokenize/character_map.h"

#include <algorithm>

#include "engine/tokenize/unicode.h"
#include "engine/tokenize/utf8.h"

namespace infer::tokenize {
namespace {

constexpr std::size_t short_grapheme = 6;  // bytes

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return value;
}

bool has_leaf(std::uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
std::uint32_t value_of(std::uint32_t unit) {
  return unit & 0x7FFFFFFF;
}
std::uint32_t label_of(std::uint32_t unit) {
  return unit & 0x800000FF;
}
/// Whether `at` is in the middle of a character.
bool inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] & 0xC0) == 0x80;
}
std::uint32_t offset_of(std::uint32_t unit) {
  return unit >> 10 << ((unit & 1u << 9) >> 6);
}

}  // namespace

result<character_map> character_map::make(std::string_view blob) {
  character_map made;
  const std::size_t size = blob.size() < 4 ? 0 : little_endian(blob);
  if (size == 0 || size % 4 != 0 || size > blob.size() - 4)
    return fail(fault::malformed, "the vocabulary's character map is cut off");
  made.units_.reserve(size / 4);
  for (std::size_t at = 4; at < 4 + size; at += 4) made.units_.push_back(little_endian(blob.substr(at)));
  made.texts_ = blob.substr(4 + size);
  if (!utf8_valid(made.texts_)) return fail(fault::malformed, "the vocabulary's character map holds no UTF-8");
  return made;
}

std::optional<character_map::hit> character_map::find(std::string_view text, bool longest) const {
  std::optional<hit> best;
  std::size_t node = offset_of(units_[0]);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (byte == 0 || node >= units_.size() || label_of(units_[node]) != byte) break;
    const std::uint32_t unit = units_[node];
    node ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    if (node >= units_.size()) break;
    const std::size_t begin = value_of(units_[node]);
    if (begin > texts_.size() || inside_character(texts_, begin)) break;
    if (longest && inside_character(text, i + 1)) continue;
    best =
        hit{i + 1, std::string_view(texts_).substr(begin, std::min(texts_.find('\0', begin), texts_.size()) - begin)};
    if (!longest) break;
  }
  return best;
}

void character_map::append_by_prefix(std::string_view text, std::string& out) const {
  while (!text.empty()) {
    std::size_t length = 0;
    if (const auto found = find(text, true)) {
      out.append(found->becomes);
      length = found->length;
    } else {
      first_character(text, length);
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
}

void character_map::append_by_grapheme(std::string_view text, std::string& out) const {
  while (!text.empty()) {
    const std::size_t whole = grapheme_length(text);
    std::string_view grapheme = text.substr(0, whole);
    text.remove_prefix(whole);
    if (whole < short_grapheme) {
      if (const auto found = find(grapheme, false)) {
        out.append(found->becomes);
        continue;
      }
    }
    while (!grapheme.empty()) {
      std::size_t length = 0;
      first_character(grapheme, length);
      const auto found = find(grapheme.substr(0, length), false);
      out.append(found ? found->becomes : grapheme.substr(0, length));
      grapheme.remove_prefix(length);
    }
  }
}

}  // namespace infer::tokenize
