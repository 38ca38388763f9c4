// A vocabulary of scored pieces small enough to reason about, for the tests of this folder.
#pragma once

#include <cstdio>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/engine/tokenize/small_vocabulary.h"

namespace infer::tokenize {

inline constexpr token_id unknown = 0, control = 1, user_defined = 2, first_byte = 3;

/// Tokens 0..2 are <unk>, <c> (control) and <u> (user-defined); then byte tokens, then pieces whose scores fall.
class scored_vocabulary {
 public:
  explicit scored_vocabulary(std::vector<std::string> pieces, bool byte_tokens = true, bool space_prefix = false)
      : pieces_(std::move(pieces)) {
    data_.model = "llama";
    data_.unk = unknown;
    data_.bos = control;
    data_.add_space_prefix = space_prefix;
    const auto add = [&](std::string_view piece, token_type type, float score) {
      data_.pieces.push_back(piece);
      data_.types.push_back(type);
      data_.scores.push_back(score);
    };
    add("<unk>", token_type::unknown, -1000);
    add("<c>", token_type::control, -1000);
    add("<u>", token_type::user_defined, -1000);
    if (byte_tokens) {
      for (int byte = 0; byte < 256; ++byte) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
        bytes_.emplace_back(name);
      }
    }
    for (const std::string& name : bytes_) add(name, token_type::byte, -1000);
    for (std::size_t i = 0; i < pieces_.size(); ++i) add(pieces_[i], token_type::normal, -static_cast<float>(i));
  }
  scored_vocabulary(const scored_vocabulary&) = delete;
  scored_vocabulary& operator=(const scored_vocabulary&) = delete;

  vocabulary_data& data() { return data_; }
  std::shared_ptr<const tokenizer> make() const { return tokenizer::make(data_).value(); }
  std::string shown_of(std::string_view text, bool parse_special = false) const {
    const auto made = make();
    return shown(*made, made->encode(text, parse_special));
  }

 private:
  std::vector<std::string> pieces_;
  std::deque<std::string> bytes_;
  vocabulary_data data_;
};

}  // namespace infer::tokenize
