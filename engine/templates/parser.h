// Template source to a syntax tree.
#pragma once

#include <string_view>

#include "engine/core/result.h"
#include "engine/templates/ast.h"

namespace infer::templates {

/// Parses a whole template.
/// Errors:  syntax, with the line and what was expected there.
result<statements> parse(std::string_view source);

}  // namespace infer::templates
