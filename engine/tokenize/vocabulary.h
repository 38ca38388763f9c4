// A vocabulary as a model file states it: plain data, checked by tokenizer::make and nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/ids.h"
#include "engine/core/result.h"
#include "engine/formats/metadata.h"
#include "engine/tokenize/fault.h"
#include "engine/tokenize/recipe.h"

namespace infer::tokenize {

/// GGUF's numbers.
enum class token_type : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

/// The algorithms, as GGUF files name them: byte pairs by rank, pieces by score, the likeliest pieces, and pairs of
/// characters by rank.
inline constexpr std::string_view byte_level_model = "gpt2", scored_model = "llama", unigram_model = "t5",
                                  character_model = "gemma4";

struct merge_pair {
  std::string_view left, right;
};

/// The tokens around the parts of a prompt for what stands between two texts, as far as a file names them.
struct infill_marks {
  std::optional<token_id> prefix, suffix, middle, repository, file, padding;
};

/// Everything a tokenizer is made from. Views must live until tokenizer::make returns; it copies what it keeps.
struct vocabulary_data {
  std::string model;                      // one of the algorithms; unused where there is a `how`
  std::string pre;                        // name of the splitting rule, e.g. "smollm"
  std::vector<std::string_view> pieces;   // by token id, in the model's own alphabet
  std::vector<token_type> types;          // one per piece, or empty: all normal
  std::vector<float> scores;              // one per piece, or empty
  std::vector<double> log_probabilities;  // the same from files that hold f64, for the first pieces
  std::vector<std::string_view> merges;   // "left right", best rank first
  std::vector<merge_pair> merge_pairs;    // the same from files that keep the parts apart
  std::optional<token_id> bos, eos, eot, eom, unk, pad;
  infill_marks infill;
  std::vector<token_id> more_stops;      // further ids that end a generation, as a generation config lists them
  std::optional<bool> add_bos, add_eos;  // absent: the splitting rule's default
  std::optional<bool> add_space_prefix, remove_extra_spaces;
  std::string character_map;            // SentencePiece's precompiled_charsmap
  std::string_view tokenizer_json;      // the file's own tokenizer.json; used where `pre` is not known
  std::vector<token_id> before, after;  // what encoding puts around a text where it puts special tokens; empty: bos
                                        // and eos as `add_bos` and `add_eos` say
  std::optional<recipe> how;            // absent: what `model` and `pre` say
};

/// Reads the `tokenizer.ggml.*` keys.
/// Errors:  formats::fault::missing_key for the model's name or the pieces, wrong_type for a key of another type,
///          tokenize::fault::malformed where counts differ. An id of -1 or beyond the vocabulary counts as absent.
result<vocabulary_data> read_vocabulary(const formats::metadata& keys);

}  // namespace infer::tokenize
