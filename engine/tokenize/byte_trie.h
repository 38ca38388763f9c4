// A trie over bytes: which texts begin a text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/core/ids.h"

namespace infer::tokenize {

/// Edges in one hash table, so that a wide node costs what a narrow one costs.
/// Threads: immutable once filled; any thread may walk with a cursor of its own.
class byte_trie {
 public:
  class cursor {
    friend class byte_trie;
    std::uint32_t node_ = 0;
  };

  byte_trie();

  /// Of two tokens with one text the first inserted stays.
  void insert(std::string_view text, token_id id);

  /// Goes on by one byte; false where no text does.
  bool step(cursor& where, char byte) const;
  /// The token whose text ends here; -1: none.
  token_id at(cursor where) const { return ids_[where.node_]; }

 private:
  struct edge {
    std::uint32_t from = 0, to = 0;  // to 0: an empty slot, as no edge leads to the root
    char byte = 0;
  };
  std::size_t place(std::uint32_t from, char byte) const;
  void grow();

  std::vector<edge> edges_;    // open addressing, a power of two
  std::vector<token_id> ids_;  // by node
};

}  // namespace infer::tokenize
