// GGUF v2 and v3 files, single or split: bytes in, a checked table of tensors and metadata out. Nothing here knows what
// a tensor means.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
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

  std::uint64_t elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
};

/// A model file whose header has been checked against its size and whose data is mapped read-only.
/// Errors:  every malformed input is an `error` whose sentence names the file and what is wrong with it.
/// Threads: immutable; any thread may read.
/// Memory:  header and data stay mapped while the object lives; it is movable, views stay valid when it moves.
class gguf_file {
 public:
  /// Opens `path`; for part one of a split model all parts beside it. All offsets and sizes are checked before mapping.
  static result<gguf_file> open(const std::filesystem::path& path);

  /// Parses one single-file model that lies in memory. `bytes` must outlive the result. The fuzzers' way in.
  static result<gguf_file> from_memory(byte_view bytes);

  gguf_file(gguf_file&&) noexcept;
  gguf_file& operator=(gguf_file&&) noexcept;
  ~gguf_file();

  std::uint32_t version() const;
  const metadata& keys() const;
  /// All tensors, of all parts, in the file's order.
  std::span<const tensor_info> tensors() const;
  const tensor_info* find(std::string_view name) const;
  /// The mapped bytes of one tensor.
  byte_view data(const tensor_info& tensor) const;
  /// How many files the model consists of.
  std::size_t parts() const;
  /// Sum over all parts.
  std::uint64_t file_bytes() const;
  /// Tells the system that the mapping of this tensor will not be read again (its pages may be dropped).
  void release(const tensor_info& tensor) const;

 private:
  struct impl;
  explicit gguf_file(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

}  // namespace infer::formats
