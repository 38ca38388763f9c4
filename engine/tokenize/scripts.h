// Which script a character is written in, as the UnicodeScripts pre-tokenizer of `tokenizers` tells them apart.
#pragma once

#include <cstdint>

namespace infer::tokenize {

/// A number that characters of one script share; 0 for a space and for characters that Unicode 9 does not know, which
/// go with any script. Hiragana, Katakana and the marks between them count as Han. Source: Unicode 9.0 Scripts.txt as
/// `tokenizers` reads it; the table is what tests/golden/oracle/unicode_scripts.py prints.
std::uint8_t script_of(char32_t character);

}  // namespace infer::tokenize
