// Reads the tokenizer of a checkpoint folder: tokenizer.json and what its neighbours say about it.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string_view>

#include "engine/core/result.h"
#include "engine/tokenize/vocabulary.h"

namespace infer::tokenize {

/// As many rows as there are ids.
inline constexpr std::size_t any_rows = std::numeric_limits<std::size_t>::max();

/// A vocabulary together with the document that its views point into.
struct vocabulary_file {
  std::shared_ptr<const void> storage;
  vocabulary_data data;
};

/// Reads `tokenizer.json`, `tokenizer_config.json` and `generation_config.json`, each given as text; the last two may
/// be empty. What stands around a text comes from the post-processor, unless the config says add_bos_token or
/// add_eos_token. An added token is a control token where it is special or written <|…|> or <｜…｜>. Of the added
/// tokens only those with an id below `rows`, the rows of the model's embedding, count: a text is read as if there were
/// no others. Entries of the vocabulary itself keep ids beyond.
/// Errors:  unsupported or unknown_model, naming the part that this program has not; malformed.
/// Threads: re-entrant.
result<vocabulary_file> read_tokenizer_json(std::string_view tokenizer_json,
                                            std::string_view tokenizer_config_json = {},
                                            std::string_view generation_config_json = {}, std::size_t rows = any_rows);

/// Only the steps of a tokenizer.json, without its vocabulary and its added tokens.
/// Errors:  as above.
result<recipe> read_recipe(std::string_view tokenizer_json);

}  // namespace infer::tokenize
