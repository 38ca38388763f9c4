// Checksums of files as hubs state them: SHA-256 of the bytes, or git's id of a blob.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/core/bytes.h"

namespace infer::hub {

/// What is known about a file's bytes; both empty: nothing but the length.
struct checksum {
  std::string sha256;    // hex
  std::string git_blob;  // hex SHA-1 of "blob LENGTH\0" and the bytes

  bool known() const { return !sha256.empty() || !git_blob.empty(); }
  bool operator==(const checksum&) const = default;
};

/// Takes the bytes of one file piece by piece.
class running_digest {
 public:
  /// Computes the kind that `wanted` holds; nothing where it holds none.
  running_digest(const checksum& wanted, std::uint64_t file_bytes);
  running_digest(running_digest&&) noexcept;
  running_digest& operator=(running_digest&&) noexcept;
  ~running_digest();

  void update(byte_view bytes);
  /// Ends it. True where the bytes are the wanted ones, or none were stated.
  bool matches();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace infer::hub
