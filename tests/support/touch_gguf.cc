// One pass over all that gguf_file promises.
#include "tests/support/touch_gguf.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/formats/describe.h"
#include "engine/formats/gguf.h"
#include "engine/quant/blocks.h"
#include "engine/quant/dequantize.h"

namespace infer::test_support {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

/// A failed look-up must have a sentence.
template <class T>
std::uint64_t looked_up(const result<T>& outcome) {
  if (outcome) return 1;
  require(!outcome.error().message().empty(), "every error has a sentence");
  return 0;
}

std::uint64_t touch_key(const formats::metadata& keys, std::string_view key) {
  std::uint64_t found = looked_up(keys.count(key)) + looked_up(keys.integer(key)) + looked_up(keys.real(key)) +
                        looked_up(keys.boolean(key)) + looked_up(keys.reals(key)) + looked_up(keys.integers(key)) +
                        looked_up(keys.text(key));
  if (const auto texts = keys.texts(key)) {
    ++found;
    for (const std::string_view text : texts.value()) {
      for (const char letter : text) found += static_cast<unsigned char>(letter);
    }
  }
  return found + formats::summary(*keys.find(key)).size();
}

std::uint64_t touch_tensor(const formats::gguf_file& file, const formats::tensor_info& tensor) {
  require(file.find(tensor.name) == &tensor, "a tensor is found by its name");
  const byte_view data = file.data(tensor);
  const tensor_type_info& info = info_of(tensor.type);
  require(data.size() == tensor.bytes, "the data is as long as the table says");
  require(tensor.bytes % info.block_bytes == 0, "the data is whole blocks");
  require(tensor.elements() / info.block_elements == tensor.bytes / info.block_bytes, "bytes follow from the shape");
  std::uint64_t sum = 0;
  for (const std::byte byte : data) sum += std::to_integer<unsigned>(byte);
  if (quant::supported(tensor.type)) sum += looked_up(quant::check_finite_scales(tensor.type, data));
  file.release(data);
  return sum;
}

}  // namespace

std::uint64_t touch_gguf(byte_view bytes) {
  auto parsed = formats::gguf_file::from_memory(bytes);
  if (!parsed) {
    require(!parsed.error().message().empty(), "every error has a sentence");
    return 0;
  }
  const formats::gguf_file& file = parsed.value();
  std::uint64_t sum = file.version() + file.file_bytes();
  for (const std::string_view key : file.keys().keys()) sum += touch_key(file.keys(), key);
  for (const formats::tensor_info& tensor : file.tensors()) sum += touch_tensor(file, tensor);
  return sum + formats::describe(file, true).size();
}

}  // namespace infer::test_support
