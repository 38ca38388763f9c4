// open, fstat, mmap and the sentences for when they fail.
#include "engine/formats/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>
#include <utility>

#include "engine/formats/fault.h"

namespace infer::formats {
namespace {

auto cannot_open(const std::filesystem::path& path, const std::string& why) {
  return fail(fault::cannot_open, path.string() + ": cannot be opened: " + why);
}

std::string system_reason(int number) {
  return std::generic_category().message(number);
}

/// Closes a descriptor at the end of a scope.
struct descriptor {
  int number;

  explicit descriptor(int n) : number(n) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

result<mapped_file> mapped_file::open(const std::filesystem::path& path) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) return cannot_open(path, system_reason(errno));
  struct stat status{};
  if (::fstat(file.number, &status) != 0) return cannot_open(path, system_reason(errno));
  if (S_ISDIR(status.st_mode)) return cannot_open(path, "it is a folder; name the .gguf file inside it");
  if (!S_ISREG(status.st_mode)) return cannot_open(path, "it is not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return mapped_file();
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (address == MAP_FAILED) return cannot_open(path, "it cannot be mapped: " + system_reason(errno));
  return mapped_file(byte_view(static_cast<const std::byte*>(address), size));
}

mapped_file::mapped_file(mapped_file&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

mapped_file::~mapped_file() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void mapped_file::drop(byte_view part) const {
  const std::less<const std::byte*> before;
  if (before(part.data(), bytes_.data()) || before(bytes_.data() + bytes_.size(), part.data() + part.size())) return;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::uint64_t>(part.data() - bytes_.data());
  const std::uint64_t begin = (offset + page - 1) / page * page;
  const std::uint64_t end = (offset + part.size()) / page * page;
  if (begin >= end) return;
  ::madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace infer::formats
