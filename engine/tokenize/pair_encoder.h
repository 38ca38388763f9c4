// Vocabularies of merge rules: text is split into pieces, and the bytes or characters of each are merged by rank.
#pragma once

#include <memory>

#include "engine/core/result.h"
#include "engine/tokenize/plain_encoder.h"
#include "engine/tokenize/tokenizer.h"

namespace infer::tokenize {

/// `owner` already knows its tokens' types and ids. No text gives a control token.
/// Errors: unsupported expressions; malformed merges.
result<std::unique_ptr<const plain_encoder>> make_pair_encoder(const tokenizer& owner, const vocabulary_data& data,
                                                               const recipe& how);

}  // namespace infer::tokenize
