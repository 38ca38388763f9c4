// Which tokens end a generation.
#pragma once

#include <vector>

#include "engine/core/ids.h"
#include "engine/tokenize/vocabulary.h"

namespace infer::tokenize {

/// Ascending ids: eos, eot, eom and the listed stops of the vocabulary, and control or user-defined tokens with a
/// well-known text; of the tokens around infill prompts those that pad, begin a repository or separate files, by the
/// file's keys or else by their texts. Harmony vocabularies, which have <|return|> and <|call|>, do not stop at
/// <|end|>; those with <|tool_response> not at </s>.
std::vector<token_id> stop_tokens(const vocabulary_data& data);

}  // namespace infer::tokenize
