// Splitting, looking up whole words, and merging the rest.
#include "engine/tokenize/pair_encoder.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/tokenize/byte_alphabet.h"
#include "engine/tokenize/byte_pair.h"
#include "engine/tokenize/decoding.h"
#include "engine/tokenize/piece_table.h"
#include "engine/tokenize/text_pipeline.h"
#include "engine/tokenize/unicode.h"

namespace infer::tokenize {
namespace {

class pair_encoder final : public plain_encoder {
 public:
  pair_encoder(const tokenizer& owner, text_pipeline split, const recipe& how, std::size_t merges)
      : split_(std::move(split)),
        bytes_(how.how == recipe::algorithm::byte_pairs),
        ignores_merges_(how.ignores_merges),
        named_bytes_(how.named_bytes),
        joins_unknown_(how.joins_unknown),
        unknown_(owner.unk()),
        pieces_(owner.size()),
        merges_(merges),
        whole_(owner.size()) {
    const auto letters = [](const text_step& step) { return step.what == text_step::kind::letters; };
    letters_ = std::ranges::any_of(how.pre_tokenizer, letters) || std::ranges::any_of(how.normalizer, letters);
    byte_tokens_.fill(-1);
  }

  /// Ordinary pieces first: where two tokens have one text, a special one gives way.
  void take_pieces(const tokenizer& owner, const vocabulary_data& data) {
    for (const bool ordinary : {true, false}) {
      for (std::size_t i = 0; i < data.pieces.size(); ++i) {
        const auto id = static_cast<token_id>(i);
        const token_type type = owner.type_of(id);
        if (type == token_type::control || type == token_type::unknown) {
          specials_.insert(data.pieces[i], id);
        } else if ((type == token_type::normal) == ordinary) {
          take_piece(data.pieces[i], id, type);
        }
      }
    }
    if (bytes_ || pieces_.find(written_space) < 0) borders_.cut_nowhere();
  }

  result<void> take_merges(const vocabulary_data& data) {
    for (const std::string_view merge : data.merges) {
      const std::size_t space = merge.find(' ', 1);
      if (merge.empty() || space == std::string_view::npos || space + 1 == merge.size()) {
        return fail(fault::malformed, "the merge '" + std::string(merge) + "' is not two parts with a space between");
      }
      INFER_TRYV(take_merge({merge.substr(0, space), merge.substr(space + 1)}));
    }
    for (const merge_pair& merge : data.merge_pairs) {
      INFER_TRYV(take_merge(merge));
    }
    return success();
  }

  /// Every pair whose text is a piece, ranked by that piece's id.
  void take_vocabulary_ranks(const tokenizer& owner) {
    for (std::size_t i = 0; i < owner.size(); ++i) {
      const auto id = static_cast<token_id>(i);
      const std::string_view bytes = owner.bytes_of(id);
      if (owner.type_of(id) != token_type::normal || bytes.empty() || pieces_.find(bytes) != id) continue;
      for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        const token_id left = pieces_.find(bytes.substr(0, cut)), right = pieces_.find(bytes.substr(cut));
        if (left >= 0 && right >= 0) merges_.add_ranked_merge(left, right, id, static_cast<std::uint32_t>(i));
      }
    }
  }

  void encode(std::string_view text, bool at_start, std::vector<token_id>& out) const override {
    piece_list pieces(text);
    split_.run(pieces, at_start);
    byte_pair::workspace scratch;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (letters_) {
        const auto bytes = letters_to_bytes(pieces[i]);
        if (bytes) encode_piece(*bytes, scratch, out);
      } else {
        encode_piece(pieces[i], scratch, out);
      }
    }
  }

  std::optional<token_id> find(std::string_view bytes) const override {
    token_id id = pieces_.find(bytes);
    if (id < 0 && !bytes_) {
      std::string written;
      for (const char byte : bytes) byte == ' ' ? written.append(written_space) : written.append(1, byte);
      id = pieces_.find(written);
    }
    if (id < 0 && bytes.size() == 1) id = byte_tokens_[static_cast<std::uint8_t>(bytes.front())];
    return id < 0 ? std::nullopt : std::optional(id);
  }

 private:
  void take_piece(std::string_view piece, token_id id, token_type type) {
    if (piece.empty()) return;
    if (bytes_) {
      const auto bytes = letters_to_bytes(piece);
      if (bytes && pieces_.insert(*bytes, id) && bytes->size() == 1)
        merges_.set_byte(static_cast<std::uint8_t>(bytes->front()), id);
      return;
    }
    const auto byte = named_byte(piece);
    if (byte && named_bytes_) byte_tokens_[static_cast<std::uint8_t>(*byte)] = id;
    if (type != token_type::byte) {
      pieces_.insert(piece, id);
      borders_.add_piece(piece);
    }
  }

  /// A rule about a special token is dropped: such tokens are cut out of the text before, or not wanted.
  result<void> take_merge(merge_pair merge) {
    const std::string joined = std::string(merge.left).append(merge.right);
    std::array<token_id, 3> ids;
    std::size_t at = 0;
    for (const std::string_view part : {merge.left, merge.right, std::string_view(joined)}) {
      const token_id id = ids[at++] = find_written(part);
      if (id >= 0) continue;
      if (specials_.find(part) >= 0) return success();
      return fail(fault::malformed, "the merge '" + std::string(merge.left) + " " + std::string(merge.right) +
                                        "' needs '" + std::string(part) + "', which is not in the vocabulary");
    }
    merges_.add_merge(ids[0], ids[1], ids[2]);
    return success();
  }

  /// The token of a piece as the file writes it.
  token_id find_written(std::string_view piece) const {
    if (!bytes_) return pieces_.find(piece);
    const auto bytes = letters_to_bytes(piece);
    return bytes ? pieces_.find(*bytes) : -1;
  }

  void encode_piece(std::string_view piece, byte_pair::workspace& scratch, std::vector<token_id>& out) const {
    if (ignores_merges_) {
      if (const token_id whole = pieces_.find(piece); whole >= 0) return out.push_back(whole);
    }
    while (!piece.empty()) {
      const std::string_view word = borders_.first(piece);
      encode_word(word, scratch, out);
      piece.remove_prefix(word.size());
    }
  }

  void encode_word(std::string_view word, byte_pair::workspace& scratch, std::vector<token_id>& out) const {
    const token_id whole = pieces_.find(word);
    if (whole >= 0 && whole_.is_whole(whole)) return out.push_back(whole);
    const std::size_t before = out.size();
    if (bytes_) {
      merges_.encode(word, scratch, out);
    } else {
      add_characters(word, scratch);
      merges_.merge(scratch, out);
    }
    if (whole >= 0) whole_.remember(whole, out.size() == before + 1 && out.back() == whole);
  }

  /// A character without a token is written as bytes, else it is unknown. An unknown one is held until the next known
  /// one, since its neighbours may join it.
  void add_characters(std::string_view word, byte_pair::workspace& scratch) const {
    byte_pair::start(scratch);
    bool held = false;
    while (!word.empty()) {
      std::size_t length = 0;
      first_character(word, length);
      const std::string_view character = word.substr(0, length);
      word.remove_prefix(length);
      if (const token_id id = pieces_.find(character); id >= 0) {
        if (std::exchange(held, false)) byte_pair::add(scratch, *unknown_);
        byte_pair::add(scratch, id);
        continue;
      }
      const auto known = [&](char byte) { return byte_tokens_[static_cast<std::uint8_t>(byte)] >= 0; };
      if (named_bytes_ && std::ranges::all_of(character, known)) {
        for (const char byte : character) byte_pair::add(scratch, byte_tokens_[static_cast<std::uint8_t>(byte)]);
      } else if (unknown_) {
        if (held && !joins_unknown_) byte_pair::add(scratch, *unknown_);
        held = true;
      }
    }
    if (held) byte_pair::add(scratch, *unknown_);
  }

  text_pipeline split_;
  bool bytes_, ignores_merges_, named_bytes_, joins_unknown_;
  bool letters_ = false;  // pieces arrive in the byte alphabet
  word_borders borders_{written_space};
  std::optional<token_id> unknown_;
  piece_table pieces_;    // ordinary tokens: bytes, or characters as the file writes them
  piece_table specials_;  // control tokens
  byte_pair merges_;
  std::array<token_id, 256> byte_tokens_;
  whole_tokens whole_;
};

}  // namespace

result<std::unique_ptr<const plain_encoder>> make_pair_encoder(const tokenizer& owner, const vocabulary_data& data,
                                                               const recipe& how) {
  INFER_TRY(auto split, text_pipeline::make(how.pre_tokenizer));
  auto made =
      std::make_unique<pair_encoder>(owner, std::move(split), how, data.merges.size() + data.merge_pairs.size());
  made->take_pieces(owner, data);
  if (how.vocabulary_ranks) {
    made->take_vocabulary_ranks(owner);
  } else {
    INFER_TRYV(made->take_merges(data));
  }
  return std::unique_ptr<const plain_encoder>(std::move(made));
}

}  // namespace infer::tokenize
