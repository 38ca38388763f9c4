// A whole file mapped read-only.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/core/bytes.h"
#include "engine/core/result.h"

namespace infer::formats {

/// Owns one read-only mapping of all bytes that the file had when it was opened.
/// Errors:  fault::cannot_open with the path and the system's reason; an empty file maps to no bytes.
/// Threads: immutable; any thread may read.
/// Hazards: a file that another program shortens while it is mapped kills the reader (SIGBUS).
class mapped_file {
 public:
  static result<mapped_file> open(const std::filesystem::path& path);

  mapped_file() = default;
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;
  ~mapped_file();

  byte_view bytes() const { return bytes_; }

  /// Lets the system drop the whole pages inside `part` of the mapping; what is no part of it is left alone. Reading
  /// them again reads the file.
  void drop(byte_view part) const;

 private:
  explicit mapped_file(byte_view bytes) : bytes_(bytes) {}

  byte_view bytes_;
};

}  // namespace infer::formats
