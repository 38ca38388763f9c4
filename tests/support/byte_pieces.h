// The 256 byte tokens of a byte-level vocabulary.
#pragma once

#include <string>
#include <vector>

namespace infer::test_support {

/// The piece of each byte in GPT-2's alphabet: bytes that print stand for themselves, the others follow from U+0100 on.
std::vector<std::string> byte_pieces();

}  // namespace infer::test_support
