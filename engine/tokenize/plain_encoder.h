// What a vocabulary's algorithm does with text in which no special token stands.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/core/ids.h"

namespace infer::tokenize {

/// How such vocabularies write a space.
inline constexpr std::string_view written_space = "\xE2\x96\x81";

/// Threads: immutable but for what it remembers of its own answers; any thread may encode.
struct plain_encoder {
  virtual ~plain_encoder() = default;
  /// Appends the tokens of `text`, a normalized stretch between special tokens or the ends of the text; well-formed
  /// UTF-8. `at_start`: it begins where the whole text begins.
  virtual void encode(std::string_view text, bool at_start, std::vector<token_id>& out) const = 0;
  /// The ordinary token with these bytes.
  virtual std::optional<token_id> find(std::string_view bytes) const = 0;
};

/// Remembers for each token whether its own text encodes to it alone, which most words of a text do.
class whole_tokens {
 public:
  explicit whole_tokens(std::size_t size) : known_(new std::atomic<std::uint8_t>[size]()) {}

  bool is_whole(token_id id) const { return known_[id].load(std::memory_order_relaxed) == yes; }
  void remember(token_id id, bool whole) const { known_[id].store(whole ? yes : no, std::memory_order_relaxed); }

 private:
  static constexpr std::uint8_t yes = 1, no = 2;
  std::unique_ptr<std::atomic<std::uint8_t>[]> known_;
};

/// The first word of `text` where words begin at the first `space` of a run: all of the text where `cut` is false.
inline std::string_view first_word(std::string_view text, std::string_view space, bool cut) {
  if (!cut) return text;
  std::size_t at = 0;
  while (text.substr(at).starts_with(space)) at += space.size();
  return text.substr(0, text.find(space, at));
}

/// Whether `piece` has a space behind another character, so that it may lie across two words.
inline bool crosses_words(std::string_view piece, std::string_view space) {
  return first_word(piece, space, true).size() != piece.size();
}

}  // namespace infer::tokenize
