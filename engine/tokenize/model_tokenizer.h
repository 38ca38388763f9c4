// The tokenizer of a model file, whatever its format.
#pragma once

#include <memory>

#include "engine/formats/model_file.h"
#include "engine/tokenize/tokenizer.h"

namespace infer::tokenize {

/// From the keys of a GGUF file, or from a hub folder's tokenizer.json and its neighbours.
/// Errors:  those of read_vocabulary, read_tokenizer_json and tokenizer::make; formats::fault::unsupported for a folder
///          without tokenizer.json.
result<std::shared_ptr<const tokenizer>> make_tokenizer(const formats::model_file& file);

}  // namespace infer::tokenize
