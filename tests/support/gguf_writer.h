// Builds GGUF files for tests: sound ones by default, broken ones on request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/tensor_type.h"

namespace infer::test_support {

/// Gathers keys and tensors, then writes them as one file or as the parts of a split model.
class gguf_writer {
 public:
  gguf_writer& version(std::uint32_t number);
  /// Pads tensors to `bytes` and, unless 32, adds the key general.alignment.
  gguf_writer& alignment(std::uint32_t bytes);

  gguf_writer& add_key(std::string_view key, std::uint8_t value);
  gguf_writer& add_key(std::string_view key, std::int8_t value);
  gguf_writer& add_key(std::string_view key, std::uint16_t value);
  gguf_writer& add_key(std::string_view key, std::int16_t value);
  gguf_writer& add_key(std::string_view key, std::uint32_t value);
  gguf_writer& add_key(std::string_view key, std::int32_t value);
  gguf_writer& add_key(std::string_view key, std::uint64_t value);
  gguf_writer& add_key(std::string_view key, std::int64_t value);
  gguf_writer& add_key(std::string_view key, float value);
  gguf_writer& add_key(std::string_view key, double value);
  gguf_writer& add_key(std::string_view key, bool value);
  gguf_writer& add_key(std::string_view key, std::string_view value);
  gguf_writer& add_key(std::string_view key, const char* value) { return add_key(key, std::string_view(value)); }
  gguf_writer& add_key(std::string_view key, const std::string& value) { return add_key(key, std::string_view(value)); }
  gguf_writer& add_key(std::string_view key, const std::vector<std::string>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<std::uint8_t>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<std::int8_t>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<std::uint16_t>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<std::int16_t>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<std::uint32_t>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<std::int32_t>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<std::uint64_t>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<std::int64_t>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<float>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<double>& values);
  gguf_writer& add_key(std::string_view key, const std::vector<bool>& values);
  /// A value of any type number, from its bytes.
  gguf_writer& add_raw_key(std::string_view key, std::uint32_t type, byte_view value);

  /// `shape[0]` is the fastest axis; `bytes` is the data as it is to lie in the file.
  gguf_writer& add_tensor(std::string_view name, tensor_type type, std::vector<std::uint64_t> shape, byte_view bytes);
  /// f32 data.
  gguf_writer& add_tensor(std::string_view name, std::vector<std::uint64_t> shape, std::span<const float> values);
  /// A table entry of any content, without data: `offset` is written as it stands.
  gguf_writer& add_raw_tensor(std::string_view name, std::uint32_t type, std::vector<std::uint64_t> shape,
                              std::uint64_t offset);
  /// What the preamble claims, instead of the truth.
  gguf_writer& claim_counts(std::uint64_t tensors, std::uint64_t keys);

  /// The bytes of a single file.
  std::vector<std::byte> build() const;
  void write(const std::filesystem::path& path) const;

  /// The parts of a split model named <prefix>-00001-of-…; tensors are dealt out in order, keys go to the first part.
  /// Returns their paths.
  std::vector<std::filesystem::path> write_split(const std::filesystem::path& folder, const std::string& prefix,
                                                 std::uint16_t parts) const;

 private:
  struct key_value {
    std::string key;
    std::uint32_t type;
    std::vector<std::byte> value;
  };
  struct tensor {
    std::string name;
    std::uint32_t type;
    std::vector<std::uint64_t> shape;
    std::vector<std::byte> bytes;
    std::optional<std::uint64_t> offset;
  };

  template <class T>
  gguf_writer& add_scalar(std::string_view key, std::uint32_t type, T value);
  template <class T>
  gguf_writer& add_array(std::string_view key, std::uint32_t type, const std::vector<T>& values);

  std::uint32_t version_ = 3;
  std::uint32_t alignment_ = 32;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> counts_;
  std::vector<key_value> keys_;
  std::vector<tensor> tensors_;
};

/// Writes bytes to a file, replacing it.
void write_bytes(const std::filesystem::path& path, byte_view bytes);
inline byte_view bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace infer::test_support
