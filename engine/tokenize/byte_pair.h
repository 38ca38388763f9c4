// Byte-pair merging: adjacent tokens are joined, best rank first, until no rule applies.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/core/ids.h"

namespace infer::tokenize {

/// The merge rules of one vocabulary.
/// Threads: immutable once filled; any thread may encode with a workspace of its own.
class byte_pair {
 public:
  /// Scratch memory that successive calls share.
  struct workspace {
    struct symbol {
      token_id id;
      std::int32_t previous, next;
    };
    struct candidate {
      std::uint32_t rank;
      std::int32_t left;  // position of the left symbol
      token_id left_id, right_id;
    };
    std::vector<symbol> symbols;
    std::vector<candidate> heap;
    std::uint64_t looked_at = 0;  // candidates so far, of long pieces: what their time grows with
  };

  explicit byte_pair(std::size_t expected_merges = 0);

  /// The token of a single byte; bytes without one are dropped from the input.
  void set_byte(std::uint8_t byte, token_id id) { bytes_[byte] = id; }
  bool has_byte(std::uint8_t byte) const { return bytes_[byte] >= 0; }

  /// The next merge rule, worse than all before. A pair that has a rule keeps it.
  void add_merge(token_id left, token_id right, token_id merged);
  /// A merge rule of a rank of its own; of two with one rank the leftmost pair goes first.
  void add_ranked_merge(token_id left, token_id right, token_id merged, std::uint32_t rank);

  /// Appends the tokens of `piece`. O(n log n) for n bytes.
  void encode(std::string_view piece, workspace& scratch, std::vector<token_id>& out) const;

  /// The same from symbols of any kind: start, add each in order, then merge.
  static void start(workspace& scratch) { scratch.symbols.clear(); }
  static void add(workspace& scratch, token_id id) {
    const auto at = static_cast<std::int32_t>(scratch.symbols.size());
    scratch.symbols.push_back({id, at - 1, at + 1});
  }
  void merge(workspace& scratch, std::vector<token_id>& out) const;

 private:
  struct rule {
    std::uint64_t pair = 0;
    std::uint32_t rank = 0;
    token_id merged = -1;  // -1: an empty slot
  };
  const rule* find(token_id left, token_id right) const;
  void insert(token_id left, token_id right, token_id merged, std::uint32_t rank);
  void grow();
  void encode_short(std::vector<workspace::symbol>& symbols, std::vector<token_id>& out) const;
  void encode_long(workspace& scratch, std::vector<token_id>& out) const;

  std::array<token_id, 256> bytes_;
  std::vector<rule> table_;  // open addressing, a power of two
  std::uint32_t count_ = 0;  // rules in the table
  std::uint32_t ranks_ = 0;  // rules ever added
};

}  // namespace infer::tokenize
