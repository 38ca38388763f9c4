// What a vocabulary's algorithm does with text in which no special token stands.
#pragma once

#include <array>
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

/// Cuts text into words that can be encoded by themselves: before a run of spaces, unless a piece has a space behind
/// the byte that stands there.
class word_borders {
 public:
  /// `space`: how the pieces write one.
  explicit word_borders(std::string_view space) : space_(space) {}

  void add_piece(std::string_view piece) {
    for (std::size_t at = piece.find(space_, 1); at < piece.size(); at = piece.find(space_, at + space_.size())) {
      if (!piece.substr(0, at).ends_with(space_)) joins_[static_cast<std::uint8_t>(piece[at - 1])] = true;
    }
  }
  void cut_nowhere() { cuts_ = false; }

  /// The first word of `text`, which is not empty.
  std::string_view first(std::string_view text) const {
    if (!cuts_) return text;
    std::size_t at = 0;
    while (text.substr(at).starts_with(space_)) at += space_.size();
    for (at = text.find(space_, at); at < text.size(); at = text.find(space_, at)) {
      if (at > 0 && !joins_[static_cast<std::uint8_t>(text[at - 1])]) return text.substr(0, at);
      while (text.substr(at).starts_with(space_)) at += space_.size();
    }
    return text;
  }

 private:
  std::string_view space_;
  std::array<bool, 256> joins_{};
  bool cuts_ = true;
};

}  // namespace infer::tokenize
