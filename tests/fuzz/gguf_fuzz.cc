// Arbitrary bytes as a model file.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/support/touch_gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  infer::test_support::touch_gguf(std::as_bytes(std::span(data, size)));
  return 0;
}
