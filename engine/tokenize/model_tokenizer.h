// The tokenizer of a model file, whatever its format.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "engine/formats/model_file.h"
#include "engine/tokenize/tokenizer.h"

namespace infer::tokenize {

/// From the keys of a GGUF file, or from a hub folder's tokenizer.json and its neighbours.
/// Without a generation_config.json, config.json's eos_token_id names the ends.
/// `rows` are those of the model's embedding. A GGUF file must have a token for each of them. A folder's embedding may
/// be padded, and its added tokens without a row are left out; a text whose own tokens have no row encodes to ids that
/// the model refuses.
/// Errors:  those of read_vocabulary, read_tokenizer_json and tokenizer::make; formats::fault::unsupported for a folder
///          without tokenizer.json, malformed for a GGUF file with another count of tokens than `rows`.
result<std::shared_ptr<const tokenizer>> make_tokenizer(const formats::model_file& file,
                                                        std::optional<std::size_t> rows = {});

}  // namespace infer::tokenize
