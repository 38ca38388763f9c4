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

namespace infer::tokenize {

/// GGUF's numbers.
enum class token_type : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

/// The algorithms, as files name them: byte pairs by rank, and pieces by score.
inline constexpr std::string_view byte_level_model = "gpt2", scored_model = "llama";

/// Everything a tokenizer is made from. Views must live until tokenizer::make returns; it copies what it keeps.
struct vocabulary_data {
  std::string model;                     // byte_level_model or scored_model
  std::string pre;                       // name of the splitting rule, e.g. "smollm"
  std::vector<std::string_view> pieces;  // by token id, in the model's own alphabet
  std::vector<token_type> types;         // one per piece, or empty: all normal
  std::vector<float> scores;             // one per piece, or empty
  std::vector<std::string_view> merges;  // "left right", best rank first
  std::optional<token_id> bos, eos, eot, eom, unk, pad;
  std::vector<token_id> more_stops;      // further ids that end a generation, as a generation config lists them
  std::optional<bool> add_bos, add_eos;  // absent: the splitting rule's default
  std::optional<bool> add_space_prefix;
};

/// Reads the `tokenizer.ggml.*` keys.
/// Errors:  formats::fault::missing_key for the model's name or the pieces, wrong_type for a key of another type,
///          tokenize::fault::malformed where counts differ. An id of -1 or beyond the vocabulary counts as absent.
result<vocabulary_data> read_vocabulary(const formats::metadata& keys);

}  // namespace infer::tokenize
