// make_synthetic_gguf OUT SHAPE TYPE: writes a model of real size with random weights, e.g. 1.5B Q4_0.
#include <exception>
#include <filesystem>
#include <iostream>

#include "tests/support/synthetic_model.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: make_synthetic_gguf OUT SHAPE TYPE\n";
    return 2;
  }
  const auto shape = infer::test_support::synthetic_shape_named(argv[2]);
  const auto type = infer::tensor_type_named(argv[3]);
  if (!shape || !type) {
    std::cerr << "make_synthetic_gguf: shapes are 0.5B and 1.5B; types are those that the engine computes with\n";
    return 2;
  }
  const std::filesystem::path part = std::string(argv[1]) + ".part";
  try {
    infer::test_support::write_synthetic_model(part, {.shape = *shape, .type = *type});
    std::filesystem::rename(part, argv[1]);
  } catch (const std::exception& e) {
    std::filesystem::remove(part);
    std::cerr << "make_synthetic_gguf: " << e.what() << "\n";
    return 1;
  }
  return 0;
}
