// Edges by linear probing.
#include "engine/tokenize/byte_trie.h"

namespace infer::tokenize {

byte_trie::byte_trie() : edges_(16), ids_(1, -1) {}

std::size_t byte_trie::place(std::uint32_t from, char byte) const {
  const std::size_t mask = edges_.size() - 1;
  std::uint64_t key = std::uint64_t{from} << 8 | static_cast<unsigned char>(byte);
  key *= 0x9E3779B97F4A7C15u;
  std::size_t at = static_cast<std::size_t>(key ^ key >> 32) & mask;
  while (edges_[at].to != 0 && (edges_[at].from != from || edges_[at].byte != byte)) at = (at + 1) & mask;
  return at;
}

void byte_trie::grow() {
  std::vector<edge> old(2 * edges_.size());
  old.swap(edges_);
  for (const edge& entry : old) {
    if (entry.to != 0) edges_[place(entry.from, entry.byte)] = entry;
  }
}

void byte_trie::insert(std::string_view text, token_id id) {
  std::uint32_t node = 0;
  for (const char byte : text) {
    if (2 * ids_.size() > edges_.size()) grow();
    edge& next = edges_[place(node, byte)];
    if (next.to == 0) {
      next = {node, static_cast<std::uint32_t>(ids_.size()), byte};
      ids_.push_back(-1);
    }
    node = next.to;
  }
  if (node != 0 && ids_[node] < 0) ids_[node] = id;
}

bool byte_trie::step(cursor& where, char byte) const {
  const edge& next = edges_[place(where.node_, byte)];
  where.node_ = next.to;
  return next.to != 0;
}

}  // namespace infer::tokenize
