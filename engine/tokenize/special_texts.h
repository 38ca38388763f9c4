// Finds the texts of control and user-defined tokens inside raw text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/core/ids.h"

namespace infer::tokenize {

/// A byte trie of token texts.
/// Threads: immutable once filled; any thread may match.
class special_texts {
 public:
  struct match {
    token_id id;
    std::size_t length;
  };

  special_texts();

  /// `restricted` tokens match only inside the part of the text where they are allowed. An empty text is ignored; of
  /// two tokens with one text the first added stays.
  void add(std::string_view text, token_id id, bool restricted);

  /// The longest text that starts at `at`, if any; restricted ones must end at or before `allowed_end`.
  std::optional<match> longest(std::string_view text, std::size_t at, std::size_t allowed_end) const;

  bool may_start(char byte) const { return starts_[static_cast<std::uint8_t>(byte)]; }

 private:
  struct node {
    std::int32_t child = -1, sibling = -1;
    token_id id = -1;
    char byte = 0;
    bool restricted = false;
  };
  std::int32_t find_child(std::int32_t parent, char byte) const;

  std::vector<node> nodes_;
  std::array<bool, 256> starts_{};
};

}  // namespace infer::tokenize
