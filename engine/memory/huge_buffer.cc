// Mapping with room to align.
#include "engine/memory/huge_buffer.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "engine/core/bytes.h"

namespace infer::memory {
namespace {
constexpr std::size_t alignment = std::size_t{2} << 20;
}

result<huge_buffer> huge_buffer::make(std::size_t bytes) {
  huge_buffer out;
  if (bytes == 0) return out;
  const std::size_t mapped = bytes + alignment;
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return fail(error{{errno, std::generic_category()}, "cannot reserve " + format_bytes(bytes) + " for weights"});
  out.mapping_ = static_cast<std::byte*>(base);
  out.mapped_ = mapped;
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  out.data_ = out.mapping_ + ((address + alignment - 1) / alignment * alignment - address);
  out.size_ = bytes;
  // Only advice: without huge pages everything works, a little slower. The tail keeps small pages, so that no more than
  // was asked for is used.
  (void)madvise(out.data_, bytes / alignment * alignment, MADV_HUGEPAGE);
  return out;
}

huge_buffer::huge_buffer(huge_buffer&& other) noexcept {
  *this = std::move(other);
}

huge_buffer& huge_buffer::operator=(huge_buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

huge_buffer::~huge_buffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

}  // namespace infer::memory
