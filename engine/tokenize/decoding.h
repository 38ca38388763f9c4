// From pieces back to text: what one token stands for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/tokenize/recipe.h"
#include "engine/tokenize/vocabulary.h"

namespace infer::tokenize {

/// The byte that a piece names as "<0xHH>".
std::optional<char> named_byte(std::string_view piece);

/// Appends the bytes that a token of this type and piece stands for.
void append_decoded(const recipe& how, token_type type, std::string_view piece, std::string& out);

}  // namespace infer::tokenize
