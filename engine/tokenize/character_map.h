// SentencePiece's precompiled character map: a trie of texts and what each becomes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenize/fault.h"

namespace infer::tokenize {

/// Threads: immutable; any thread may map.
class character_map {
 public:
  /// `blob`: bytes of the trie (u32), the trie's units (u32 each, little-endian), then texts that end with NUL.
  /// Errors: malformed.
  static result<character_map> make(std::string_view blob);

  /// Appends `text` with the longest key at each place replaced; a character without a key stays. SentencePiece's way.
  void append_by_prefix(std::string_view text, std::string& out) const;

  /// Appends `text` grapheme by grapheme: a short one becomes what the shortest key at its start becomes, another is
  /// mapped character by character. The way of `tokenizers`.
  void append_by_grapheme(std::string_view text, std::string& out) const;

 private:
  struct hit {
    std::size_t length;
    std::string_view becomes;
  };
  std::optional<hit> find(std::string_view text, bool longest) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

}  // namespace infer::tokenize
