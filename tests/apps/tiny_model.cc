// tiny_model FILE WIDTH LAYERS FFN_WIDTH CONTEXT: writes a random llama model with a vocabulary of bytes.
#include <cstdlib>
#include <iostream>

#include "tests/support/tiny_llama.h"

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: tiny_model FILE WIDTH LAYERS FFN_WIDTH CONTEXT\n";
    return 2;
  }
  const auto number = [&](int at) { return static_cast<std::uint32_t>(std::strtoul(argv[at], nullptr, 10)); };
  infer::test_support::tiny_llama shape;
  shape.width = number(2);
  shape.layers = number(3);
  shape.ffn_width = number(4);
  shape.context = number(5);
  shape.head_dim = shape.width / shape.heads;
  infer::test_support::write_tiny_llama(argv[1], shape);
  return 0;
}
