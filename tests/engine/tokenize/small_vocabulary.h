// A byte-level vocabulary small enough to reason about, for the tests of this folder.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenize/byte_alphabet.h"
#include "engine/tokenize/tokenizer.h"

namespace infer::tokenize {

/// Tokens 0..3 are <end>, <start>, <start>x (control) and <user> (user-defined); then one token per byte that is not in
/// `missing`, then one per merge.
class small_vocabulary {
 public:
  explicit small_vocabulary(const std::vector<std::string>& merges = {"h e", "l l", "he ll", "hell o", "Ġ hello", "a a",
                                                                      "aa aa", "Ġ a"},
                            std::string_view missing = "") {
    data_.model = "gpt2";
    data_.pre = "gpt-2";
    add("<end>", token_type::control);
    add("<start>", token_type::control);
    add("<start>x", token_type::control);
    add("<user>", token_type::user_defined);
    for (int byte = 0; byte < 256; ++byte) {
      const char one = static_cast<char>(byte);
      if (missing.find(one) == std::string_view::npos) {
        add(bytes_to_letters(std::string_view(&one, 1)), token_type::normal);
      }
    }
    for (const std::string& merge : merges) {
      std::string merged = merge;
      merged.erase(merged.find(' '), 1);
      add(merged, token_type::normal);
      data_.merges.push_back(keep(merge));
    }
    data_.bos = 1;
    data_.eos = 0;
  }
  small_vocabulary(const small_vocabulary&) = delete;
  small_vocabulary& operator=(const small_vocabulary&) = delete;

  vocabulary_data& data() { return data_; }
  std::shared_ptr<const tokenizer> make() const { return tokenizer::make(data_).value(); }

  void add(std::string piece, token_type type) {
    data_.pieces.push_back(keep(std::move(piece)));
    data_.types.push_back(type);
  }

 private:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::deque<std::string> texts_;
  vocabulary_data data_;
};

/// The bytes of each token, joined with '|'.
inline std::string shown(const tokenizer& with, const std::vector<token_id>& ids) {
  std::string text;
  for (const token_id id : ids) text.append(text.empty() ? "" : "|").append(with.bytes_of(id));
  return text;
}

}  // namespace infer::tokenize
