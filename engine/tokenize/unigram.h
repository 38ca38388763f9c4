// Vocabularies whose pieces carry log probabilities: a text becomes its likeliest sequence of pieces.
#pragma once

#include <memory>

#include "engine/core/result.h"
#include "engine/tokenize/plain_encoder.h"
#include "engine/tokenize/tokenizer.h"

namespace infer::tokenize {

/// `owner` already knows its tokens' types and ids. Sums are in f64; of two equal ones the piece that begins first
/// stays. A character in no piece costs 10 more than the worst piece; it is written as bytes where the recipe says so
/// and there are byte tokens, else as the unknown token.
/// Errors: unsupported expressions; malformed where the scores are missing or not one per piece.
result<std::unique_ptr<const plain_encoder>> make_unigram(const tokenizer& owner, const vocabulary_data& data,
                                                          const recipe& how);

}  // namespace infer::tokenize
