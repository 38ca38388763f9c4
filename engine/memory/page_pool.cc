// The page pools: for each group an anonymous mapping, a free list and counts.
#include "engine/memory/page_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <string>

#include "engine/core/bytes.h"

namespace infer::memory {

void unmap_pages::operator()(std::byte* base) const noexcept {
  munmap(base, bytes);
}

result<page_pool> page_pool::make(std::span<const group_pages> groups) {
  page_pool pool;
  for (const group_pages& asked : groups) {
    arena a;
    a.page_bytes = asked.page_bytes;
    const std::uint32_t capacity = std::max(asked.capacity, asked.pages);
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(asked.page_bytes, std::size_t{capacity}, &bytes) || capacity >= 1u << place_bits)
      return fail(error{std::make_error_code(std::errc::not_enough_memory),
                        "cannot reserve more memory than there are addresses"});
    if (bytes != 0) {
      void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (base == MAP_FAILED)
        return fail(
            error{{errno, std::generic_category()}, "cannot reserve " + format_bytes(bytes) + " for key/value pages"});
      a.base = {static_cast<std::byte*>(base), unmap_pages{bytes}};
    }
    a.references.assign(capacity, 0);
    a.free.reserve(capacity);
    pool.arenas_.push_back(std::move(a));
    pool.grow(pool.groups() - 1, asked.pages);
  }
  return pool;
}

result<page_pool> page_pool::make(std::span<const plan::state_group> groups, plan::kv_type keys, plan::kv_type values,
                                  std::uint32_t context, std::uint32_t batch, std::uint32_t sequences) {
  std::vector<group_pages> asked;
  for (const plan::state_group& group : groups) {
    const std::uint32_t pages = plan::pages_of_context(group, context, batch);
    asked.push_back({pages, plan::page_bytes_of(group, keys, values), pages * sequences});
  }
  return make(asked);
}

result<page_pool> page_pool::make(std::uint32_t pages, std::size_t page_bytes) {
  const group_pages one{pages, page_bytes, pages};
  return make({&one, 1});
}

std::uint32_t page_pool::grow(std::uint32_t group, std::uint32_t pages) {
  arena& a = arenas_[group];
  const std::uint32_t more = std::min(pages, capacity(group) - a.pages);
  // The free list is taken from behind: the lowest addresses come first, and what is new after what is free already.
  std::vector<page_index> added;
  for (std::uint32_t place = a.pages + more; place-- > a.pages;) added.emplace_back(group << place_bits | place);
  a.free.insert(a.free.begin(), added.begin(), added.end());
  a.pages += more;
  return more;
}

std::optional<page_index> page_pool::take(std::uint32_t group) {
  arena& a = arenas_[group];
  if (a.free.empty()) return std::nullopt;
  const page_index page = a.free.back();
  a.free.pop_back();
  a.references[place_of(page)] = 1;
  return page;
}

void page_pool::share(page_index page) {
  assert(references(page) > 0 && "a page must be held to be shared");
  ++arena_of(page).references[place_of(page)];
}

void page_pool::release(page_index page) {
  assert(references(page) > 0 && "a page was released more often than it was held");
  arena& a = arena_of(page);
  if (--a.references[place_of(page)] == 0) a.free.push_back(page);
}

}  // namespace infer::memory
