// Linear probing; a slot keeps its hash, so that a miss rarely touches the bytes.
#include "engine/tokenize/piece_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace infer::tokenize {
namespace {

std::uint32_t hash_of(std::string_view piece) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
  std::uint64_t sum = piece.size() * odd;
  const char* at = piece.data();
  std::size_t left = piece.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    sum = (std::rotl(sum, 23) ^ word) * odd;
  }
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    sum = (std::rotl(sum, 23) ^ word) * odd;
  }
  return static_cast<std::uint32_t>(sum >> 32 ^ sum >> 11);
}

}  // namespace

piece_table::piece_table(std::size_t expected) : slots_(std::bit_ceil(2 * expected + 16)) {}

std::size_t piece_table::place(std::string_view piece, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id >= 0 &&
         (slots_[at].hash != hash || std::string_view(bytes_).substr(slots_[at].begin, slots_[at].length) != piece))
    at = (at + 1) & mask;
  return at;
}

void piece_table::grow() {
  std::vector<slot> old(2 * slots_.size());
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const slot& entry : old) {
    if (entry.id < 0) continue;
    std::size_t at = entry.hash & mask;
    while (slots_[at].id >= 0) at = (at + 1) & mask;
    slots_[at] = entry;
  }
}

bool piece_table::insert(std::string_view piece, token_id id) {
  if (2 * (count_ + 1) > slots_.size()) grow();
  const std::uint32_t hash = hash_of(piece);
  slot& entry = slots_[place(piece, hash)];
  if (entry.id >= 0) return false;
  entry = {hash, static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(piece.size()), id};
  bytes_.append(piece);
  ++count_;
  longest_ = std::max(longest_, piece.size());
  return true;
}

token_id piece_table::find(std::string_view piece) const {
  if (piece.size() > longest_) return -1;
  return slots_[place(piece, hash_of(piece))].id;
}

}  // namespace infer::tokenize
