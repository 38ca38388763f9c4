// File names of split models: <prefix>-00001-of-00004.gguf.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace infer::formats {

/// Part `number` (from 1) of `count` with a common prefix.
struct shard_name {
  std::string prefix;
  std::uint32_t number = 0;
  std::uint32_t count = 0;

  std::string text() const;
  shard_name with_number(std::uint32_t other) const { return {prefix, other, count}; }
};

/// Takes a file's name (no folder) apart; nothing where it does not follow the pattern with this ending.
std::optional<shard_name> parse_shard_name(std::string_view file_name, std::string_view ending = ".gguf");

}  // namespace infer::formats
