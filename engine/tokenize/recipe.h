// How a tokenizer is put together: the steps before and after the vocabulary's algorithm, as plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/ids.h"

namespace infer::tokenize {

/// By how much the steps of a recipe may make a text of `bytes` longer; then they put nothing in any more. Each step of
/// a tokenizer.json can make a text many times longer; those in use stay far below.
constexpr std::size_t most_growth(std::size_t bytes) {
  return 64 * bytes + (std::size_t{1} << 16);
}

/// What becomes of the text that an expression matches.
enum class split_behavior : std::uint8_t { isolated, removed, merged_with_previous, merged_with_next, contiguous };

/// One step on the way from text to pieces. A tokenizer.json's larger steps are several of these.
struct text_step {
  enum class kind : std::uint8_t {
    split,          // cuts at matches of `pattern`
    scripts,        // cuts where the script changes; what goes with any script stays, in front of all it is dropped
    replace,        // every match of `pattern` becomes `content`
    surround,       // every match of `pattern` gets `content` on both sides
    prepend,        // puts `content` in front of a piece that is not empty
    strip_left,     // drops leading white space
    strip_right,    // drops trailing white space
    lowercase,      // each character by itself
    strip_accents,  // drops marks
    nfc,
    nfd,
    nfkc,
    nfkd,
    charsmap,         // `content` is a SentencePiece character map; graphemes first, then characters
    charsmap_prefix,  // the same map, longest prefix first
    letters,          // bytes become the letters of the byte alphabet
  };
  enum class at : std::uint8_t { everywhere, start };  // prepend: every piece, or the one at the text's start

  kind what = kind::split;
  std::string pattern;  // Oniguruma's Ruby syntax, or plain text where `literal`
  std::string content;
  bool literal = false;
  bool invert = false;        // the matches are what lies between the matches
  bool unless_there = false;  // prepend: not where the piece starts with `content` already
  split_behavior behavior = split_behavior::isolated;
  at where = at::everywhere;
};

/// One step on the way from pieces to text, applied to each token by itself.
struct decode_step {
  enum class kind : std::uint8_t {
    letters,      // letters of the byte alphabet become bytes; a token with another character stays
    named_bytes,  // <0xHH> becomes the byte
    replace,      // every `pattern` becomes `content`
    strip,        // drops up to `start` leading and `stop` trailing `pattern`s
    lead,         // puts `content` in front
  };
  kind what = kind::letters;
  std::string pattern, content;
  std::size_t start = 0, stop = 0;
};

/// A text that is cut out before everything else.
struct added_text {
  token_id id = -1;
  std::string text;
  bool single_word = false;                        // only between characters that are no part of a word
  bool strips_left = false, strips_right = false;  // swallows the white space beside it
  bool normalized = false;                         // looked for in the normalized text
};

/// Everything about a tokenizer but its pieces.
struct recipe {
  enum class algorithm : std::uint8_t { byte_pairs, character_pairs, scored, unigram };

  algorithm how = algorithm::byte_pairs;
  std::vector<text_step> normalizer;     // on each stretch between added texts
  std::vector<text_step> pre_tokenizer;  // cuts what is normalized
  std::vector<decode_step> decoder;
  bool decodes_special = true;   // control, user-defined and unused tokens go through the decoder, too
  std::size_t strips_start = 0;  // spaces dropped in front of a whole decoded text
  bool joins_with_spaces =
      false;  // decoded tokens have a space between them, which `lead` does not put at control ones
  bool first_loses_spaces = false;  // the first token of a decoded text loses all of its spaces
  std::vector<added_text> added;    // empty: the tokens whose types say so
  bool has_added = false;           // whether `added` is meant
  bool ignores_merges = false;      // a piece that is itself in the vocabulary becomes that token without merging
  bool named_bytes = false;         // a character without a token is written byte by byte, as <0xHH>
  bool joins_unknown = false;       // neighbours without a token become one unknown token
  bool adds_bos = false;            // where the vocabulary does not say
  bool adds_eos = false;
  bool vocabulary_ranks = false;  // no merges: a pair's rank is the id of what it makes
};

}  // namespace infer::tokenize
