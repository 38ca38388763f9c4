// Escapes in the string literals of expressions.
#pragma once

#include <string>
#include <string_view>

namespace infer::templates {

/// Resolves Python's escapes in what stands between the quotes. An unknown escape stays as it is.
std::string unescape(std::string_view body);

}  // namespace infer::templates
