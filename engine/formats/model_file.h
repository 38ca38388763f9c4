// What every model file offers, whatever its format: a table of keys, a table of tensors, and their bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/core/bytes.h"
#include "engine/core/tensor_type.h"
#include "engine/formats/metadata.h"

namespace infer::formats {

/// One row of the tensor table.
struct tensor_info {
  std::string_view name;
  tensor_type type{};
  std::uint32_t rank = 0;
  std::array<std::uint64_t, 4> shape{1, 1, 1, 1};  // shape[0] is the fastest axis (input width of a matrix)
  std::uint32_t shard = 0;                         // which file of a split model
  std::uint64_t offset = 0;                        // bytes from the start of that file
  std::uint64_t bytes = 0;
  std::string_view fault = {};  // why its values cannot be read, to follow its name; empty: they can

  std::uint64_t elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
};

enum class file_format : std::uint8_t {
  gguf,
  hub,  // a folder as on the Hugging Face hub: config.json, safetensors, tokenizer.json
};

/// Threads: immutable; any thread may read.
/// Memory:  header and data stay mapped while the object lives.
class model_file {
 public:
  virtual ~model_file() = default;

  virtual file_format format() const = 0;
  /// "GGUF version 3", "safetensors".
  virtual std::string format_name() const = 0;
  /// GGUF: its metadata. Hub: config.json, nested names joined by dots, without what is null.
  virtual const metadata& keys() const = 0;
  /// All tensors, of all parts, in the files' order.
  virtual std::span<const tensor_info> tensors() const = 0;
  virtual const tensor_info* find(std::string_view name) const = 0;
  /// The mapped bytes of one tensor, not aligned to anything.
  virtual byte_view data(const tensor_info& tensor) const = 0;
  /// Tells the system that these bytes of a tensor will not be read again (their pages may be dropped).
  virtual void release(byte_view bytes) const = 0;
  /// How many files hold the tensors.
  virtual std::size_t parts() const = 0;
  /// Sum over all parts.
  virtual std::uint64_t file_bytes() const = 0;
  /// The text of a file beside the weights, such as "tokenizer.json"; empty where there is none.
  virtual std::string_view side_file(std::string_view) const { return {}; }

 protected:
  model_file() = default;
  model_file(model_file&&) = default;
  model_file& operator=(model_file&&) = default;
};

/// Opens a GGUF file (for part one of a split model all parts beside it), a hub folder, or a `.safetensors` file or
/// `model.safetensors.index.json` inside one. All offsets and sizes are checked before mapping.
/// Errors:  every malformed input is an `error` whose sentence names the file and what is wrong with it.
result<std::shared_ptr<const model_file>> open_model(const std::filesystem::path& path);

}  // namespace infer::formats
