// Page tables: growth, copies on write, windows.
#include "engine/plan/position_pages.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace infer::plan {

position_pages::position_pages(position_pages&& other) noexcept
    : source_(other.source_),
      group_(other.group_),
      window_(other.window_),
      behind_(std::exchange(other.behind_, 0)),
      table_(std::exchange(other.table_, {})) {}

position_pages& position_pages::operator=(position_pages&& other) noexcept {
  std::swap(source_, other.source_);
  std::swap(group_, other.group_);
  std::swap(window_, other.window_);
  std::swap(behind_, other.behind_);
  std::swap(table_, other.table_);
  return *this;
}

position_pages::~position_pages() {
  for (const page_index page : table_) {
    if (page != no_page) source_->release(page);
  }
}

bool position_pages::copies_on_write(std::uint32_t length) const {
  return length % page_positions != 0 && source_->is_shared(table_[length / page_positions]);
}

std::uint32_t position_pages::fresh_needed(std::uint32_t length, std::uint32_t more) const {
  if (more == 0) return 0;
  const auto have = static_cast<std::uint32_t>(table_.size());
  const std::uint32_t wanted = pages_for(length + more);
  return (wanted > have ? wanted - have : 0) + (copies_on_write(length) ? 1 : 0);
}

void position_pages::extend(std::uint32_t length, std::span<const page_index> fresh) {
  if (fresh.empty()) return;
  if (copies_on_write(length)) {
    page_index& shared = table_[length / page_positions];
    std::ranges::copy(source_->bytes(shared), source_->bytes(fresh.front()).begin());
    source_->release(shared);
    shared = fresh.front();
    fresh = fresh.subspan(1);
  }
  table_.insert(table_.end(), fresh.begin(), fresh.end());
}

void position_pages::commit(std::uint32_t length) {
  const std::uint32_t seen = std::min(first_page_seen(length, window_), static_cast<std::uint32_t>(table_.size()));
  for (; behind_ < seen; ++behind_) source_->release(std::exchange(table_[behind_], no_page));
}

std::uint32_t position_pages::restorable(std::uint32_t at_most) const {
  return first_page_seen(at_most, window_) >= behind_ ? at_most : 0;
}

void position_pages::truncate(std::uint32_t to) {
  const std::size_t keep = pages_for(to);
  for (; table_.size() > keep; table_.pop_back()) {
    if (table_.back() != no_page) source_->release(table_.back());
  }
  behind_ = std::min(behind_, static_cast<std::uint32_t>(keep));
}

position_pages position_pages::fork(std::uint32_t at) const {
  position_pages out(*source_, group_, window_);
  std::vector<page_index> pages(table_.begin(), table_.begin() + pages_for(at));
  std::fill_n(pages.begin(), std::min<std::size_t>(first_page_seen(at, window_), pages.size()), no_page);
  for (const page_index page : pages) {
    if (page != no_page) source_->share(page);
  }
  out.adopt(std::move(pages));
  return out;
}

void position_pages::adopt(std::vector<page_index> pages) {
  assert(table_.empty() && "only an empty group takes pages over");
  table_ = std::move(pages);
  const auto held = std::ranges::find_if(table_, [](page_index page) { return page != no_page; });
  behind_ = static_cast<std::uint32_t>(held - table_.begin());
}

void position_pages::replace(std::size_t at, page_index page) {
  if (table_[at] == page) return;
  source_->share(page);
  source_->release(std::exchange(table_[at], page));
}

}  // namespace infer::plan
