// Arbitrary bytes as a hub folder: a line of config.json, then a safetensors file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/formats/hub_folder.h"
#include "engine/models/builder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infer;
  const std::uint8_t* end = std::find(data, data + size, '\n');
  const std::string_view config(reinterpret_cast<const char*>(data), static_cast<std::size_t>(end - data));
  const std::uint8_t* weights = end == data + size ? end : end + 1;
  auto opened = formats::hub_folder::from_memory(
      config, std::as_bytes(std::span(weights, static_cast<std::size_t>(data + size - weights))));
  if (!opened) return 0;
  const auto file = std::make_shared<const formats::hub_folder>(std::move(opened.value()));
  for (const formats::tensor_info& tensor : file->tensors()) {
    const byte_view bytes = file->data(tensor);
    if (bytes.size() != tensor.bytes) __builtin_trap();
  }
  (void)models::build(file);
  return 0;
}
