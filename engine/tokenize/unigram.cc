// Viterbi's search over a trie of pieces.
#include "engine/tokenize/unigram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/tokenize/byte_trie.h"
#include "engine/tokenize/decoding.h"
#include "engine/tokenize/piece_table.h"
#include "engine/tokenize/text_pipeline.h"
#include "engine/tokenize/unicode.h"

namespace infer::tokenize {
namespace {

constexpr double unknown_penalty = 10;

class unigram final : public plain_encoder {
 public:
  unigram(const tokenizer& owner, const vocabulary_data& data, const recipe& how, text_pipeline split)
      : split_(std::move(split)),
        scores_(data.log_probabilities),
        pieces_(owner.size()),
        unknown_(owner.unk()),
        named_bytes_(how.named_bytes),
        joins_unknown_(how.joins_unknown) {
    byte_tokens_.fill(-1);
    scores_.insert(scores_.end(), data.scores.begin(), data.scores.end());
    double worst = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < data.pieces.size(); ++i) {
      const auto id = static_cast<token_id>(i);
      const token_type type = owner.type_of(id);
      if (i < scores_.size() && (type == token_type::normal || data.how)) worst = std::min(worst, scores_[i]);
      if (const auto byte = named_byte(data.pieces[i])) byte_tokens_[static_cast<std::uint8_t>(*byte)] = id;
      if (type == token_type::control || type == token_type::unknown || (type == token_type::byte && !data.how))
        continue;
      if (data.pieces[i].empty() || i >= scores_.size() || !pieces_.insert(data.pieces[i], id)) continue;
      trie_.insert(data.pieces[i], id);
      if (type == token_type::user_defined && !data.how) scores_[i] = 0;
    }
    unknown_score_ = (std::isfinite(worst) ? worst : 0) - unknown_penalty;
  }

  void encode(std::string_view text, bool at_start, std::vector<token_id>& out) const override {
    piece_list pieces(text);
    split_.run(pieces, at_start);
    std::vector<node> best;
    for (std::size_t i = 0; i < pieces.size(); ++i) encode_piece(pieces[i], best, out);
  }

  std::optional<token_id> find(std::string_view bytes) const override {
    std::string written;
    for (const char byte : bytes) byte == ' ' ? written.append(written_space) : written.append(1, byte);
    const token_id id = pieces_.find(written);
    return id < 0 ? std::nullopt : std::optional(id);
  }

 private:
  /// The best way to a place in the text.
  struct node {
    double score = 0;
    std::size_t begin = nowhere;  // of its last piece
    token_id id = -1;             // of its last piece; -1: a character in no piece
  };
  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

  void encode_piece(std::string_view text, std::vector<node>& best, std::vector<token_id>& out) const {
    best.assign(text.size() + 1, {});
    const auto offer = [&](std::size_t begin, std::size_t end, token_id id, double score) {
      node& there = best[end];
      const double sum = score + best[begin].score;
      if (there.begin == nowhere || sum > there.score) there = {sum, begin, id};
    };
    for (std::size_t at = 0; at < text.size();) {
      std::size_t length = 0;
      first_character(text.substr(at), length);
      bool alone = false;
      byte_trie::cursor where;
      for (std::size_t end = at; end < text.size() && trie_.step(where, text[end]);) {
        ++end;
        if (const token_id id = trie_.at(where); id >= 0) {
          offer(at, end, id, scores_[static_cast<std::size_t>(id)]);
          alone = alone || end == at + length;
        }
      }
      if (!alone) offer(at, at + length, -1, unknown_score_);
      at += length;
    }
    write(text, best, out);
  }

  void write(std::string_view text, const std::vector<node>& best, std::vector<token_id>& out) const {
    std::vector<std::pair<byte_range, token_id>> parts;  // from the end
    for (std::size_t end = text.size(); end > 0; end = best[end].begin) {
      const node& last = best[end];
      if (last.id < 0 && joins_unknown_ && !parts.empty() && parts.back().second < 0) {
        parts.back().first.begin = last.begin;
      } else {
        parts.push_back({{last.begin, end}, last.id});
      }
    }
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->second >= 0) {
        out.push_back(part->second);
      } else {
        write_unknown(text.substr(part->first.begin, part->first.end - part->first.begin), out);
      }
    }
  }

  void write_unknown(std::string_view part, std::vector<token_id>& out) const {
    const auto known = [&](char byte) { return byte_tokens_[static_cast<std::uint8_t>(byte)] >= 0; };
    if (named_bytes_ && std::ranges::all_of(part, known)) {
      for (const char byte : part) out.push_back(byte_tokens_[static_cast<std::uint8_t>(byte)]);
    } else if (unknown_) {
      out.push_back(*unknown_);
    }
  }

  text_pipeline split_;
  std::vector<double> scores_;
  piece_table pieces_;
  byte_trie trie_;
  std::array<token_id, 256> byte_tokens_;
  std::optional<token_id> unknown_;
  double unknown_score_ = 0;
  bool named_bytes_, joins_unknown_;
};

}  // namespace

result<std::unique_ptr<const plain_encoder>> make_unigram(const tokenizer& owner, const vocabulary_data& data,
                                                          const recipe& how) {
  const std::size_t scores = data.scores.size() + data.log_probabilities.size();
  if (scores == 0 || scores > owner.size() || (!data.how && scores != owner.size()))
    return fail(fault::malformed, "the vocabulary has " + std::to_string(owner.size()) + " tokens but " +
                                      std::to_string(scores) + " scores");
  const auto no_number = [](auto score) { return std::isnan(score); };
  if (std::ranges::any_of(data.scores, no_number) || std::ranges::any_of(data.log_probabilities, no_number))
    return fail(fault::malformed, "a score of the vocabulary is not a number");
  INFER_TRY(auto split, text_pipeline::make(how.pre_tokenizer));
  return std::unique_ptr<const plain_encoder>(std::make_unique<unigram>(owner, data, how, std::move(split)));
}

}  // namespace infer::tokenize
