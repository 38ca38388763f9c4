// Reads the tokenizer of a checkpoint folder: tokenizer.json and what its neighbours say about it.
#pragma once

#include <memory>
#include <string_view>

#include "engine/core/result.h"
#include "engine/tokenize/vocabulary.h"

namespace infer::tokenize {

/// A vocabulary together with the document that its views point into.
struct vocabulary_file {
  std::shared_ptr<const void> storage;
  vocabulary_data data;
};

/// Reads `tokenizer.json`, `tokenizer_config.json` and `generation_config.json`, each given as text; the last two may
/// be empty. What stands around a text comes from the post-processor, unless the config says add_bos_token or
/// add_eos_token. An added token is a control token where it is special or written <|…|> or <｜…｜>.
/// Errors:  unsupported or unknown_model, naming the part that this program has not; malformed.
/// Threads: re-entrant.
result<vocabulary_file> read_tokenizer_json(std::string_view tokenizer_json,
                                            std::string_view tokenizer_config_json = {},
                                            std::string_view generation_config_json = {});

/// Only the steps of a tokenizer.json, without its vocabulary and its added tokens.
/// Errors:  as above.
result<recipe> read_recipe(std::string_view tokenizer_json);

}  // namespace infer::tokenize
