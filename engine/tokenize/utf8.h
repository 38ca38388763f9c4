// UTF-8 as the tokenizers need it: step over one character, or know that there is none.
#pragma once

#include <cstddef>
#include <string_view>

namespace infer::tokenize {

inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// What stands at the start of a byte sequence.
struct utf8_step {
  enum class kind { character, invalid, incomplete };
  kind what;
  /// Bytes of the character, of the maximal ill-formed part (Unicode 3.9, D93b), or of the incomplete beginning.
  std::size_t length;
};

/// Looks at the first character of `bytes`, which must not be empty. `incomplete`: more bytes could complete it.
utf8_step utf8_first(std::string_view bytes) noexcept;

/// Whether all of `bytes` is well-formed UTF-8.
bool utf8_valid(std::string_view bytes) noexcept;

}  // namespace infer::tokenize
