// Builds small character maps in SentencePiece's format, for the tests of this folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace infer::tokenize {

class character_map_builder {
 public:
  /// The bytes of a map from keys to texts.
  static std::string build(const std::map<std::string, std::string>& entries) {
    character_map_builder made;
    std::map<std::string_view, std::uint32_t> places;
    std::string texts;
    for (const auto& [key, text] : entries) {
      places[key] = static_cast<std::uint32_t>(texts.size());
      texts.append(text).push_back('\0');
    }
    made.place(0, places, 0);
    std::string blob;
    const auto add = [&](std::uint32_t value) {
      for (int shift = 0; shift < 32; shift += 8) blob.push_back(static_cast<char>(value >> shift));
    };
    add(static_cast<std::uint32_t>(made.units_.size() * 4));
    for (const std::uint32_t unit : made.units_) add(unit);
    return blob + texts;
  }

 private:
  void place(std::size_t node, const std::map<std::string_view, std::uint32_t>& keys, std::size_t depth) {
    const std::size_t base = units_.size() == 1 ? 256 : units_.size();
    units_.resize(base + 256);
    units_[node] |= static_cast<std::uint32_t>(node ^ base) << 10;
    std::map<char, std::map<std::string_view, std::uint32_t>> next;
    for (const auto& [key, value] : keys) {
      if (key.size() == depth) {
        units_[node] |= 1u << 8;
        units_[base] = value | 1u << 31;
      } else {
        next[key[depth]][key] = value;
      }
    }
    for (const auto& [byte, below] : next) {
      const std::size_t child = base ^ static_cast<unsigned char>(byte);
      units_[child] = static_cast<unsigned char>(byte);
      place(child, below, depth + 1);
    }
  }

  std::vector<std::uint32_t> units_ = {0};
};

}  // namespace infer::tokenize
