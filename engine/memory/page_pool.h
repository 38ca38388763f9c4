// A fixed pool of reference-counted pages of key/value state.
//
//   take ──► 1 reference ──share──► n ──release──► 0 ──► back in the pool
//
// Hazards: a page with more than one reference is read-only; who wants to write takes a copy first. A page goes back to
// the pool with its old bytes in it; nothing may read a position that it has not written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/core/ids.h"
#include "engine/core/result.h"
#include "engine/plan/executor.h"
#include "engine/plan/sequence.h"

namespace infer::memory {

/// Threads: not thread-safe; one decode owns it (counters may be read by others through its owner).
/// Memory:  one anonymous mapping, touched page by page as it is used.
class page_pool final : public plan::page_source, public plan::page_memory {
 public:
  /// `pages` pages of `page_bytes` bytes each. Errors: the system refuses the mapping.
  static result<page_pool> make(std::uint32_t pages, std::size_t page_bytes);

  page_pool() = default;
  page_pool(page_pool&& other) noexcept;
  page_pool& operator=(page_pool&& other) noexcept;
  ~page_pool() override;

  std::optional<page_index> take() override;
  void share(page_index page) override;
  void release(page_index page) override;

  std::byte* data(page_index page) override { return base_ + page.value * page_bytes_; }
  const std::byte* data(page_index page) const { return base_ + page.value * page_bytes_; }
  std::uint32_t references(page_index page) const { return references_[page.value]; }

  std::uint32_t pages() const { return static_cast<std::uint32_t>(references_.size()); }
  std::uint32_t free_pages() const { return static_cast<std::uint32_t>(free_.size()); }
  std::size_t page_bytes() const { return page_bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t page_bytes_ = 0, mapped_bytes_ = 0;
  std::vector<std::uint32_t> references_;
  std::vector<page_index> free_;
};

}  // namespace infer::memory
