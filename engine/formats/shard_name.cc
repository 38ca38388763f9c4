// The pattern, forwards and backwards.
#include "engine/formats/shard_name.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace infer::formats {
namespace {

std::optional<std::uint32_t> five_digits(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string shard_name::text() const {
  std::array<char, 48> tail{};
  std::snprintf(tail.data(), tail.size(), "-%05u-of-%05u.gguf", static_cast<unsigned>(number),
                static_cast<unsigned>(count));
  return prefix + tail.data();
}

std::optional<shard_name> parse_shard_name(std::string_view file_name, std::string_view ending) {
  constexpr std::string_view pattern = "-00001-of-00001";
  if (!file_name.ends_with(ending)) return std::nullopt;
  file_name.remove_suffix(ending.size());
  if (file_name.size() < pattern.size()) return std::nullopt;
  const std::string_view tail = file_name.substr(file_name.size() - pattern.size());
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-") return std::nullopt;
  const auto number = five_digits(tail.substr(1, 5));
  const auto count = five_digits(tail.substr(10, 5));
  if (!number || !count || *number == 0 || *number > *count) return std::nullopt;
  return shard_name{std::string(file_name.substr(0, file_name.size() - pattern.size())), *number, *count};
}

}  // namespace infer::formats
