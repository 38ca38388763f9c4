// Appending, flushing and taking up again.
#include "actors/loader/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

namespace infer::hub {
namespace {

std::filesystem::path with(const std::filesystem::path& path, const char* ending) {
  return path.string() + ending;
}

auto broken(const std::filesystem::path& path) {
  const int code = errno;
  return fail(code == ENOSPC || code == EDQUOT ? fault::no_space : fault::file_system,
              path.string() + ": " + std::strerror(code));
}

/// The first line says which file it is, the second the ETag it had.
std::string identity(std::uint64_t bytes, const checksum& sum) {
  return std::to_string(bytes) + " " + sum.sha256 + " " + sum.git_blob;
}

bool put_on_disk(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = file >= 0 && fsync(file) == 0;
  if (file >= 0) ::close(file);
  return done;
}

/// Reads from byte `at` on to the end, or past `most` bytes; false: with errno.
bool read_on(int file, std::uint64_t& at, std::uint64_t most, running_digest& digest) {
  std::vector<std::byte> piece(1 << 20);
  while (at <= most) {
    const ssize_t got = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    digest.update(byte_view(piece.data(), static_cast<std::size_t>(got)));
    at += static_cast<std::uint64_t>(got);
  }
  return true;
}

/// Whether a file, which is no link, has these bytes.
bool has_bytes(const std::filesystem::path& path, std::uint64_t bytes, const checksum& sum) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  struct stat found{};
  running_digest digest(sum, bytes);
  std::uint64_t size = 0;
  const bool is_same = ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
                       static_cast<std::uint64_t>(found.st_size) == bytes && read_on(file, size, bytes, digest) &&
                       size == bytes && digest.matches();
  ::close(file);
  return is_same;
}

struct origin {
  std::string identity, etag;
};

origin read_origin(const std::filesystem::path& target) {
  std::istringstream lines(read_small(with(target, ".from")));
  origin out;
  std::getline(lines, out.identity);
  std::getline(lines, out.etag);
  return out;
}

}  // namespace

std::string read_small(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  ::close(file);
  return text;
}

result<void> write_whole(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path fresh = with(path, ".new");
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return broken(fresh);
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file) == 0;
  const int code = errno;
  ::close(file);
  errno = code;
  if (!written || ::rename(fresh.c_str(), path.c_str()) != 0) return broken(fresh);
  return success();
}

part_file::part_file(std::filesystem::path target, std::uint64_t bytes, checksum sum)
    : target_(std::move(target)), wanted_(bytes), sum_(std::move(sum)), digest_(sum_, wanted_) {}

part_file::part_file(part_file&& other) noexcept
    : target_(std::move(other.target_)),
      wanted_(other.wanted_),
      size_(other.size_),
      flushed_(other.flushed_),
      sum_(std::move(other.sum_)),
      digest_(std::move(other.digest_)),
      etag_(std::move(other.etag_)),
      file_(std::exchange(other.file_, -1)) {}

part_file::~part_file() {
  if (file_ >= 0) ::close(file_);
}

bool part_file::is_finished(const std::filesystem::path& target, std::uint64_t bytes, const checksum& sum) {
  struct stat found{};
  return ::stat(target.c_str(), &found) == 0 && static_cast<std::uint64_t>(found.st_size) == bytes &&
         read_origin(target).identity == identity(bytes, sum);
}

bool part_file::adopt(const std::filesystem::path& source, const std::filesystem::path& target, std::uint64_t bytes,
                      const checksum& sum, std::uint64_t room, link_call link) {
  if (!has_bytes(source, bytes, sum)) return false;
  const std::filesystem::path fresh = with(target, ".taken");
  for (const auto& old : {fresh, target}) ::unlink(old.c_str());
  std::error_code code;
  const bool is_there = link(AT_FDCWD, source.c_str(), AT_FDCWD, fresh.c_str(), 0) == 0 ||
                        (bytes <= room && std::filesystem::copy_file(source, fresh, code) && put_on_disk(fresh));
  // A part of an older file must not be taken for one of this file: it goes before the new name of what it is comes.
  const bool is_taken = is_there && (::unlink(with(target, ".part").c_str()) == 0 || errno == ENOENT) &&
                        write_whole(with(target, ".from"), identity(bytes, sum) + "\n\n") &&
                        ::rename(fresh.c_str(), target.c_str()) == 0;
  if (!is_taken) ::unlink(fresh.c_str());
  return is_taken;
}

result<part_file> part_file::open(const std::filesystem::path& target, std::uint64_t bytes, const checksum& sum) {
  part_file out(target, bytes, sum);
  const std::filesystem::path part = with(target, ".part");
  out.file_ = ::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (out.file_ < 0) return broken(part);
  const origin from = read_origin(target);
  if (from.identity == identity(bytes, sum)) {
    out.etag_ = from.etag;
    INFER_TRYV(out.take_up());
  } else {
    INFER_TRYV(out.restart());
    INFER_TRYV(out.set_etag(""));
  }
  return out;
}

result<void> part_file::take_up() {
  if (!read_on(file_, size_, wanted_, digest_)) return broken(target_);
  flushed_ = size_;
  return size_ > wanted_ ? restart() : success();
}

result<void> part_file::set_etag(const std::string& etag) {
  etag_ = etag;
  return write_whole(with(target_, ".from"), identity(wanted_, sum_) + "\n" + etag + "\n");
}

result<void> part_file::append(byte_view bytes) {
  digest_.update(bytes);
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return broken(target_);
    size_ += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  if (size_ >= flushed_ + chunk_bytes) {
    if (fdatasync(file_) != 0) return broken(target_);
    flushed_ = size_;
  }
  return success();
}

result<void> part_file::restart() {
  if (ftruncate(file_, 0) != 0) return broken(target_);
  size_ = flushed_ = 0;
  digest_ = running_digest(sum_, wanted_);
  return success();
}

result<bool> part_file::finish() {
  if (size_ != wanted_ || !digest_.matches()) return false;
  if (fsync(file_) != 0) return broken(target_);
  if (::rename(with(target_, ".part").c_str(), target_.c_str()) != 0) return broken(target_);
  return true;
}

}  // namespace infer::hub
