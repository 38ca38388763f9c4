// GPT-2's alphabet.
#include "tests/support/byte_pieces.h"

#include <cstdint>

namespace infer::test_support {
namespace {

std::string utf8(std::uint32_t code) {
  std::string out;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
  return out;
}

}  // namespace

std::vector<std::string> byte_pieces() {
  std::vector<std::string> out;
  std::uint32_t next = 0x100;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool prints = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    out.push_back(utf8(prints ? byte : next++));
  }
  return out;
}

}  // namespace infer::test_support
