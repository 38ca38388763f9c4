// Writes model folders as the Hugging Face hub has them, for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace infer::test_support {

/// One tensor: shape as the format has it, slowest axis first.
struct hub_tensor {
  std::string name, dtype;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};

/// The bytes of a safetensors file that holds `tensors` one behind the other.
std::string safetensors_bytes(const std::vector<hub_tensor>& tensors);
/// A file from a header text and data.
std::string safetensors_bytes(const std::string& header, const std::string& data);

/// `count` F32 values as bytes.
std::string float_bytes(const std::vector<float>& values);

void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace infer::test_support
