// Template source to tokens, with the white space rules that chat templates are written for: trim_blocks and
// lstrip_blocks on, one trailing newline dropped.
#pragma once

#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/templates/fault.h"
#include "engine/templates/token.h"

namespace infer::templates {

/// All tokens of `source`, the last of kind `end`. Raw blocks become data, comments nothing.
/// Errors:  syntax, with the line.
result<std::vector<token>> lex(std::string_view source);

}  // namespace infer::templates
