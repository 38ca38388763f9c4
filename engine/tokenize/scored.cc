// Joining by score, with a heap over a linked list of symbols.
#include "engine/tokenize/scored.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/tokenize/piece_table.h"
#include "engine/tokenize/utf8.h"

namespace infer::tokenize {
namespace {

/// A stretch of the text that is one piece so far. Length 0: joined to its left neighbour.
struct symbol {
  std::uint32_t begin, length;
  std::int32_t previous, next;
};

struct candidate {
  float score;
  std::int32_t left;
  std::uint32_t length;  // of both together; another one means that either has changed since
};

struct worse {
  bool operator()(const candidate& a, const candidate& b) const {
    return a.score != b.score ? a.score < b.score : a.left > b.left;
  }
};

class scored final : public plain_encoder {
 public:
  scored(const tokenizer& owner, const vocabulary_data& data)
      : pieces_(owner.size()), scores_(data.scores), whole_(owner.size()), unknown_(owner.unk()) {
    bytes_.fill(-1);
    for (std::size_t i = 0; i < owner.size(); ++i) {
      const auto id = static_cast<token_id>(i);
      const std::string_view bytes = owner.bytes_of(id);
      if (owner.type_of(id) == token_type::normal && !bytes.empty()) {
        pieces_.insert(bytes, id);
        borders_.add_piece(bytes);
      }
      if (owner.type_of(id) == token_type::byte && bytes.size() == 1)
        bytes_[static_cast<std::uint8_t>(bytes.front())] = id;
    }
  }

  void encode(std::string_view text, bool, std::vector<token_id>& out) const override {
    std::string spaced;
    append_with_spaces(text, spaced);
    workspace scratch;
    for (std::string_view rest = spaced; !rest.empty();) {
      const std::string_view word = borders_.first(rest);
      rest.remove_prefix(word.size());
      encode_word(word, scratch, out);
    }
  }

  std::optional<token_id> find(std::string_view bytes) const override {
    if (const token_id found = pieces_.find(bytes); found >= 0) return found;
    if (bytes.size() == 1 && bytes_[static_cast<std::uint8_t>(bytes.front())] >= 0)
      return bytes_[static_cast<std::uint8_t>(bytes.front())];
    return std::nullopt;
  }

 private:
  struct workspace {
    std::vector<symbol> symbols;
    std::vector<candidate> heap;
  };

  void encode_word(std::string_view word, workspace& scratch, std::vector<token_id>& out) const {
    const token_id whole = pieces_.find(word);
    if (whole >= 0 && whole_.is_whole(whole)) return out.push_back(whole);
    const std::size_t before = out.size();
    characters(word, scratch.symbols);
    join(word, scratch);
    for (std::int32_t at = 0; at >= 0; at = scratch.symbols[static_cast<std::size_t>(at)].next) {
      const symbol& s = scratch.symbols[static_cast<std::size_t>(at)];
      write(word.substr(s.begin, s.length), out);
    }
    if (whole >= 0) whole_.remember(whole, out.size() == before + 1 && out.back() == whole);
  }

  static void characters(std::string_view text, std::vector<symbol>& symbols) {
    symbols.clear();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = utf8_first(text.substr(at)).length;
      const auto index = static_cast<std::int32_t>(symbols.size());
      symbols.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length), index - 1, index + 1});
      at += length;
    }
    symbols.back().next = -1;
  }

  void join(std::string_view text, workspace& scratch) const {
    auto& symbols = scratch.symbols;
    auto& heap = scratch.heap;
    heap.clear();
    const auto offer = [&](std::int32_t left) {
      if (left < 0 || symbols[static_cast<std::size_t>(left)].next < 0) return;
      const symbol& a = symbols[static_cast<std::size_t>(left)];
      const symbol& b = symbols[static_cast<std::size_t>(a.next)];
      const token_id piece = pieces_.find(text.substr(a.begin, a.length + b.length));
      if (piece < 0) return;
      heap.push_back({scores_[static_cast<std::size_t>(piece)], left, a.length + b.length});
      std::ranges::push_heap(heap, worse{});
    };
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) offer(static_cast<std::int32_t>(i));
    while (!heap.empty()) {
      std::ranges::pop_heap(heap, worse{});
      const candidate best = heap.back();
      heap.pop_back();
      symbol& left = symbols[static_cast<std::size_t>(best.left)];
      if (left.length == 0 || left.next < 0) continue;
      symbol& right = symbols[static_cast<std::size_t>(left.next)];
      if (left.length + right.length != best.length) continue;
      left.length = best.length;
      left.next = right.next;
      right.length = 0;
      if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = best.left;
      offer(left.previous);
      offer(best.left);
    }
  }

  void write(std::string_view piece, std::vector<token_id>& out) const {
    if (const token_id found = pieces_.find(piece); found >= 0) return out.push_back(found);
    const auto known = [&](char byte) { return bytes_[static_cast<std::uint8_t>(byte)] >= 0; };
    if (std::ranges::all_of(piece, known)) {
      for (const char byte : piece) out.push_back(bytes_[static_cast<std::uint8_t>(byte)]);
    } else if (unknown_) {
      out.push_back(*unknown_);
    }
  }

  piece_table pieces_;  // normal tokens
  std::vector<float> scores_;
  std::array<token_id, 256> bytes_;
  whole_tokens whole_;
  std::optional<token_id> unknown_;
  word_borders borders_{" "};
};

}  // namespace

void append_with_spaces(std::string_view piece, std::string& out) {
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t found = std::min(piece.find(written_space, at), piece.size());
    out.append(piece, at, found - at);
    if (found < piece.size()) out.push_back(' ');
    at = found + written_space.size();
  }
}

result<std::unique_ptr<const plain_encoder>> make_scored(const tokenizer& owner, const vocabulary_data& data) {
  if (data.scores.size() != owner.size())
    return fail(fault::malformed, "the vocabulary has " + std::to_string(owner.size()) + " tokens but " +
                                      std::to_string(data.scores.size()) + " scores");
  if (std::ranges::any_of(data.scores, [](float score) { return std::isnan(score); }))
    return fail(fault::malformed, "a score of the vocabulary is not a number");
  return std::unique_ptr<const plain_encoder>(std::make_unique<scored>(owner, data));
}

}  // namespace infer::tokenize
