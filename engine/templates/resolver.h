// Names in a syntax tree to slots, and built-ins to their rows: once, when a template is compiled.
#pragma once

#include "engine/templates/ast.h"

namespace infer::templates {

/// Fills in what ast.h keeps under `resolved` and `slots`. Lists and tuples of constants become constants.
program resolve(statements body);

}  // namespace infer::templates
