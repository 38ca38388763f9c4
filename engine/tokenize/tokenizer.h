// Text to token ids and back, for one vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/ids.h"
#include "engine/core/result.h"
#include "engine/tokenize/vocabulary.h"

namespace infer::tokenize {

class text_pipeline;

/// A stretch of text and whether the texts of control tokens inside it become control tokens. Text of users must not be
/// allowed that; text of a chat template is.
struct text_span {
  std::string_view text;
  bool control_allowed = false;
};

struct encode_options {
  /// Put bos before and eos behind where the vocabulary says so.
  bool add_special = false;
};

/// One vocabulary, ready to encode and decode.
/// Threads: immutable; any thread may call anything.
/// Memory:  owns its bytes.
class tokenizer {
 public:
  /// Errors:  unknown_model and unknown_pre_tokenizer with the name; unsupported with the part; malformed.
  static result<std::shared_ptr<const tokenizer>> make(const vocabulary_data& data);

  ~tokenizer();
  tokenizer(const tokenizer&) = delete;
  tokenizer& operator=(const tokenizer&) = delete;

  /// Encodes the concatenation of `spans`. Span borders are invisible except that the text of a control token counts
  /// only where all of it lies in spans that allow it; user-defined tokens are found everywhere. Of several texts at
  /// one place the longest wins. Ill-formed UTF-8 counts as U+FFFD; bytes that the vocabulary cannot write are dropped.
  /// A control token that is looked for in normalized text counts there where all spans allow it, else as written.
  std::vector<token_id> encode(std::span<const text_span> spans, encode_options options = {}) const;

  /// Encodes one text; `parse_special` allows control tokens in it.
  std::vector<token_id> encode(std::string_view text, bool parse_special, encode_options options = {}) const;

  /// The text of `ids` as well-formed UTF-8. Ids outside the vocabulary give nothing; with `skip_special` neither do
  /// control tokens.
  std::string decode(std::span<const token_id> ids, bool skip_special) const;

  std::size_t size() const { return offsets_.size() - 1; }

  /// What the token stands for: raw bytes, perhaps a part of a character; for control tokens their text. Empty for ids
  /// outside the vocabulary.
  std::string_view bytes_of(token_id id) const;

  /// The control or user-defined token with this text, else the ordinary one with these bytes.
  std::optional<token_id> find(std::string_view text) const;

  bool contains(token_id id) const { return id >= 0 && static_cast<std::size_t>(id) < size(); }
  token_type type_of(token_id id) const { return contains(id) ? types_[id] : token_type::unknown; }
  bool is_control(token_id id) const { return type_of(id) == token_type::control; }
  bool is_end_of_generation(token_id id) const { return contains(id) && stops_[id]; }

  /// All control tokens, ascending.
  std::span<const token_id> control_tokens() const { return control_tokens_; }
  /// All tokens that end a generation, ascending.
  std::span<const token_id> end_tokens() const { return end_tokens_; }

  std::optional<token_id> bos() const { return bos_; }
  std::optional<token_id> eos() const { return eos_; }
  std::optional<token_id> unk() const { return unk_; }
  std::optional<token_id> pad() const { return pad_; }
  /// Of the ids that the file names, those that are in the vocabulary.
  const infill_marks& infill() const { return infill_; }
  /// Whether `add_special` puts bos first, and eos last.
  bool adds_bos() const { return adds_bos_; }
  bool adds_eos() const { return adds_eos_; }

 private:
  class model;
  tokenizer();
  result<void> take_pieces(const vocabulary_data& data, const recipe& how, const text_pipeline& normalizer);
  result<void> take_ids(const vocabulary_data& data, const recipe& how);

  std::string bytes_;                   // the bytes of all tokens, one after the other
  std::vector<std::uint32_t> offsets_;  // token i is bytes_[offsets_[i], offsets_[i + 1])
  std::vector<token_type> types_;
  std::vector<bool> stops_;
  std::vector<token_id> control_tokens_, end_tokens_;
  std::optional<token_id> bos_, eos_, unk_, pad_;
  infill_marks infill_;
  std::vector<token_id> before_, after_;  // put around a text with add_special
  bool adds_bos_ = false, adds_eos_ = false;
  std::size_t strips_start_ = 0;     // spaces in front of a decoded text, which encoding put there
  bool joins_with_spaces_ = false;   // decoded control tokens have a space in front, as the others have already
  bool first_loses_spaces_ = false;  // the first token of a decoded text gives none
  std::unique_ptr<const model> model_;
};

}  // namespace infer::tokenize
