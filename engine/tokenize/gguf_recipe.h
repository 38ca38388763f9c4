// What the names in a GGUF vocabulary mean, as a recipe.
#pragma once

#include "engine/core/result.h"
#include "engine/tokenize/vocabulary.h"

namespace infer::tokenize {

/// The recipe that `model` and `pre` of a GGUF file name. No `pre` means "default"; an unknown one uses the file's own
/// tokenizer.json where there is one.
/// Errors: unknown_model or unknown_pre_tokenizer, with the name; what the tokenizer.json has wrong.
result<recipe> gguf_recipe(const vocabulary_data& data);

}  // namespace infer::tokenize
