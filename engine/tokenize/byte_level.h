// Byte-level vocabularies: text is split by regular expressions, and the bytes of each piece are merged by rank.
#pragma once

#include <memory>

#include "engine/core/result.h"
#include "engine/tokenize/plain_encoder.h"
#include "engine/tokenize/tokenizer.h"

namespace infer::tokenize {

/// `owner` already knows its tokens' bytes and types, and outlives the encoder.
/// Errors: unknown_pre_tokenizer; malformed merges.
result<std::unique_ptr<const plain_encoder>> make_byte_level(const tokenizer& owner, const vocabulary_data& data);

}  // namespace infer::tokenize
