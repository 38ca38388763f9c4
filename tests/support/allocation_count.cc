// The global operators, counted.
#include "tests/support/allocation_count.h"

#if INFER_COUNTS_ALLOCATIONS
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> count{0};

void* allocate(std::size_t size, std::size_t alignment) {
  count.fetch_add(1, std::memory_order_relaxed);
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  void* at =
      alignment <= alignof(std::max_align_t) ? std::malloc(size != 0 ? size : 1) : std::aligned_alloc(alignment, whole);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

}  // namespace

namespace infer::test_support {
std::uint64_t allocations() {
  return count.load(std::memory_order_relaxed);
}
}  // namespace infer::test_support

void* operator new(std::size_t size) {
  return allocate(size, 1);
}
void* operator new[](std::size_t size) {
  return allocate(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* at) noexcept {
  std::free(at);
}
void operator delete[](void* at) noexcept {
  std::free(at);
}
void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}
void operator delete[](void* at, std::size_t) noexcept {
  std::free(at);
}
void operator delete(void* at, std::align_val_t) noexcept {
  std::free(at);
}
void operator delete[](void* at, std::align_val_t) noexcept {
  std::free(at);
}
void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  std::free(at);
}
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept {
  std::free(at);
}

#else
namespace infer::test_support {
std::uint64_t allocations() {
  return 0;
}
}  // namespace infer::test_support
#endif
