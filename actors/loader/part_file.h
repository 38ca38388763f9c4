// A file that is being fetched: FILE.part grows beside FILE, FILE.from says which file it is a part of.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "actors/loader/digest.h"
#include "actors/loader/hub_fault.h"

namespace infer::hub {

/// Bytes after which what was fetched is put on the disk.
inline constexpr std::uint64_t chunk_bytes = std::uint64_t{8} << 20;

/// Hazards: a process that dies leaves FILE.part as long as what it had written; a machine that dies may leave a tail
/// of it unwritten, which the checksum finds at the end.
class part_file {
 public:
  /// Takes up the part of an earlier process if it is one of the same file, and reads it for the checksum.
  /// Errors:  fault::file_system.
  static result<part_file> open(const std::filesystem::path& target, std::uint64_t bytes, const checksum& sum);
  part_file(part_file&& other) noexcept;
  part_file& operator=(part_file&&) = delete;
  ~part_file();

  /// Whether `target` is already whole, from an earlier process.
  static bool is_finished(const std::filesystem::path& target, std::uint64_t bytes, const checksum& sum);

  using link_call = int (*)(int, const char*, int, const char*, int);
  /// Makes `target` of `source` where that has the bytes: a hard link to it, else a copy, which may take up to `room`
  /// bytes. False where it has others, is a link itself, or neither can be made; `target` is not there then.
  static bool adopt(const std::filesystem::path& source, const std::filesystem::path& target, std::uint64_t bytes,
                    const checksum& sum, std::uint64_t room, link_call link = &::linkat);

  std::uint64_t size() const { return size_; }
  const std::string& etag() const { return etag_; }
  result<void> set_etag(const std::string& etag);
  /// Errors:  fault::no_space, file_system.
  result<void> append(byte_view bytes);
  /// Forgets every byte.
  result<void> restart();
  /// Puts it on the disk and under its name if the checksum is right; false: it is not, and all bytes are still there.
  result<bool> finish();

 private:
  part_file(std::filesystem::path target, std::uint64_t bytes, checksum sum);
  result<void> take_up();

  std::filesystem::path target_;
  std::uint64_t wanted_ = 0, size_ = 0, flushed_ = 0;
  checksum sum_;
  running_digest digest_;
  std::string etag_;
  int file_ = -1;
};

/// Writes a small file so that it is either there whole or not at all.
result<void> write_whole(const std::filesystem::path& path, const std::string& text);
/// A small file's text; empty where there is none, or where it cannot be read.
std::string read_small(const std::filesystem::path& path);

}  // namespace infer::hub
