// Oniguruma's regular expressions, in which tokenizers are written, as PCRE2 spells them.
#pragma once

#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/tokenize/fault.h"

namespace infer::tokenize {

/// The same expression for PCRE2 with UTF, UCP and MULTILINE. What the two read differently is spelled out: white space
/// (PCRE2's counts U+180E), word characters, scripts, sets inside sets and their intersections, `{n,m}+`.
/// Errors: unsupported, with the expression and the part.
result<std::string> pcre2_syntax(std::string_view pattern);

}  // namespace infer::tokenize
