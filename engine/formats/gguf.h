// GGUF v2 and v3 files, single or split: bytes in, a checked table of tensors and metadata out. Nothing here knows what
// a tensor means.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/formats/model_file.h"

namespace infer::formats {

/// A model file whose header has been checked against its size and whose data is mapped read-only.
/// Errors:  every malformed input is an `error` whose sentence names the file and what is wrong with it.
/// Threads: immutable; any thread may read.
/// Memory:  header and data stay mapped while the object lives; it is movable, views stay valid when it moves.
class gguf_file final : public model_file {
 public:
  /// Opens `path`; for part one of a split model all parts beside it. All offsets and sizes are checked before mapping.
  static result<gguf_file> open(const std::filesystem::path& path);

  /// Parses one single-file model that lies in memory. `bytes` must outlive the result. The fuzzers' way in.
  static result<gguf_file> from_memory(byte_view bytes);

  gguf_file(gguf_file&&) noexcept;
  gguf_file& operator=(gguf_file&&) noexcept;
  ~gguf_file() override;

  std::uint32_t version() const;

  file_format format() const override { return file_format::gguf; }
  std::string format_name() const override { return "GGUF version " + std::to_string(version()); }
  const metadata& keys() const override;
  std::span<const tensor_info> tensors() const override;
  const tensor_info* find(std::string_view name) const override;
  byte_view data(const tensor_info& tensor) const override;
  std::size_t parts() const override;
  std::uint64_t file_bytes() const override;
  void release(byte_view bytes) const override;

 private:
  struct impl;
  explicit gguf_file(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

}  // namespace infer::formats
