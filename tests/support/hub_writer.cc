// Eight bytes of length, a header, the data.
#include "tests/support/hub_writer.h"

#include <cstring>
#include <fstream>
#include <stdexcept>

namespace infer::test_support {

std::string safetensors_bytes(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  return out + header + data;
}

std::string safetensors_bytes(const std::vector<hub_tensor>& tensors) {
  std::string header = R"({"__metadata__":{"format":"pt"})", data;
  for (const hub_tensor& tensor : tensors) {
    header += ",\"" + tensor.name + R"(":{"dtype":")" + tensor.dtype + R"(","shape":[)";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
      header += (i == 0 ? "" : ",") + std::to_string(tensor.shape[i]);
    header += R"(],"data_offsets":[)" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + tensor.bytes.size()) + "]}";
    data += tensor.bytes;
  }
  return safetensors_bytes(header + "}", data);
}

std::string float_bytes(const std::vector<float>& values) {
  std::string out(values.size() * sizeof(float), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace infer::test_support
