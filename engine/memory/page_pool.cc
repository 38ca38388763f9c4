// The page pool: an anonymous mapping, a free list and counts.
#include "engine/memory/page_pool.h"

#include <sys/mman.h>

#include <cassert>
#include <cerrno>
#include <string>
#include <utility>

#include "engine/core/bytes.h"

namespace infer::memory {

result<page_pool> page_pool::make(std::uint32_t pages, std::size_t page_bytes) {
  page_pool pool;
  pool.page_bytes_ = page_bytes;
  if (__builtin_mul_overflow(page_bytes, std::size_t{pages}, &pool.mapped_bytes_))
    return fail(error{std::make_error_code(std::errc::not_enough_memory),
                      "cannot reserve more memory than there are addresses"});
  if (pool.mapped_bytes_ != 0) {
    void* base =
        mmap(nullptr, pool.mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
      return fail(error{{errno, std::generic_category()},
                        "cannot reserve " + format_bytes(pool.mapped_bytes_) + " for key/value pages"});
    pool.base_ = static_cast<std::byte*>(base);
  }
  pool.references_.assign(pages, 0);
  pool.free_.reserve(pages);
  for (std::uint32_t page = pages; page-- > 0;) pool.free_.emplace_back(page);
  return pool;
}

page_pool::page_pool(page_pool&& other) noexcept {
  *this = std::move(other);
}

page_pool& page_pool::operator=(page_pool&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(page_bytes_, other.page_bytes_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(references_, other.references_);
  std::swap(free_, other.free_);
  return *this;
}

page_pool::~page_pool() {
  if (base_ != nullptr) munmap(base_, mapped_bytes_);
}

std::optional<page_index> page_pool::take() {
  if (free_.empty()) return std::nullopt;
  const page_index page = free_.back();
  free_.pop_back();
  references_[page.value] = 1;
  return page;
}

void page_pool::share(page_index page) {
  assert(references_[page.value] > 0 && "a page must be held to be shared");
  ++references_[page.value];
}

void page_pool::release(page_index page) {
  assert(references_[page.value] > 0 && "a page was released more often than it was held");
  if (--references_[page.value] == 0) free_.push_back(page);
}

}  // namespace infer::memory
