// From a piece's bytes to its token, for one vocabulary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/ids.h"

namespace infer::tokenize {

/// A flat hash table over bytes that it owns.
/// Threads: immutable once filled; any thread may look up.
class piece_table {
 public:
  /// Room for that many pieces; more may come.
  explicit piece_table(std::size_t expected = 0);

  /// False where the piece is there already; the first token stays.
  bool insert(std::string_view piece, token_id id);
  /// -1: not there.
  token_id find(std::string_view piece) const;

  std::size_t size() const { return count_; }
  std::size_t longest() const { return longest_; }  // bytes

 private:
  struct slot {
    std::uint32_t hash = 0, begin = 0, length = 0;
    token_id id = -1;  // -1: empty
  };
  std::size_t place(std::string_view piece, std::uint32_t hash) const;
  void grow();

  std::string bytes_;
  std::vector<slot> slots_;  // open addressing, a power of two
  std::size_t count_ = 0, longest_ = 0;
};

}  // namespace infer::tokenize
