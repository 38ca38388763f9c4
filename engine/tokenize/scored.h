// Vocabularies whose pieces carry scores, as SentencePiece makes them: characters are joined to the piece of the best
// score, and what no piece writes is written byte by byte.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/tokenize/plain_encoder.h"
#include "engine/tokenize/tokenizer.h"

namespace infer::tokenize {

/// Appends `piece` with every U+2581, in which such vocabularies write a space, as a space.
void append_with_spaces(std::string_view piece, std::string& out);

/// `owner` already knows its tokens' bytes and types, and outlives the encoder. Only normal pieces are joined; of pairs
/// with one score the leftmost goes first. A character that neither a piece nor byte tokens write becomes the unknown
/// token, or nothing where there is none.
/// Errors: malformed where the scores are missing or not one per piece.
result<std::unique_ptr<const plain_encoder>> make_scored(const tokenizer& owner, const vocabulary_data& data);

}  // namespace infer::tokenize
