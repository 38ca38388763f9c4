// The strings and hashes that the tests of whole vocabularies share with their oracle.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/ids.h"

namespace infer::tokenize {

inline std::uint32_t fnv(std::string_view bytes, std::uint32_t start = 0x811C9DC5) {
  for (const char byte : bytes) start = (start ^ static_cast<unsigned char>(byte)) * 0x01000193;
  return start;
}

inline std::uint32_t fnv_number(std::uint32_t value, std::uint32_t start = 0x811C9DC5) {
  const char bytes[4] = {static_cast<char>(value), static_cast<char>(value >> 8), static_cast<char>(value >> 16),
                         static_cast<char>(value >> 24)};
  return fnv(std::string_view(bytes, 4), start);
}

inline std::uint32_t hash_of(const std::vector<token_id>& ids) {
  std::uint32_t value = 0x811C9DC5;
  for (const token_id id : ids) value = fnv_number(static_cast<std::uint32_t>(id), value);
  return value;
}

/// Six hex digits, as the golden files have them.
inline std::string shown(std::uint32_t value) {
  char text[8];
  std::snprintf(text, sizeof text, "%06x", static_cast<unsigned>(value >> 8 ^ (value & 0xFF)));
  return text;
}

inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The strings of tests/golden/tokenizer, file by file.
inline const std::vector<std::string>& shared_strings() {
  static const std::vector<std::string> strings = [] {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator("tests/golden/tokenizer")) files.insert(entry.path());
    std::vector<std::string> all;
    for (const auto& file : files) {
      for (const std::string& line : read_lines(file)) {
        const auto row = boost::json::parse(line).as_object();
        const auto& text = row.at("t").as_string();
        all.emplace_back(text.data(), text.size());
      }
    }
    return all;
  }();
  return strings;
}

}  // namespace infer::tokenize
