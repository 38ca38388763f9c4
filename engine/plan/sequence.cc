// Page bookkeeping of a sequence.
#include "engine/plan/sequence.h"

#include <algorithm>
#include <utility>

#include "engine/plan/kv_layout.h"

namespace infer::plan {

sequence::sequence(sequence&& other) noexcept
    : pool_(other.pool_),
      context_(other.context_),
      length_(std::exchange(other.length_, 0)),
      pages_(std::move(other.pages_)) {
  other.pages_.clear();
}

sequence& sequence::operator=(sequence&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(context_, other.context_);
  std::swap(length_, other.length_);
  std::swap(pages_, other.pages_);
  return *this;
}

sequence::~sequence() {
  for (const page_index page : pages_) pool_->release(page);
}

result<void> sequence::reserve(std::uint32_t more) {
  if (more > context_ - length_) {
    return fail(fault::past_context, "the sequence holds " + std::to_string(length_) + " positions and cannot take " +
                                         std::to_string(more) + " more in a context of " + std::to_string(context_));
  }
  const std::size_t needed = pages_for(length_ + more);
  const std::size_t before = pages_.size();
  while (pages_.size() < needed) {
    const auto page = pool_->take();
    if (!page) {
      while (pages_.size() > before) {
        pool_->release(pages_.back());
        pages_.pop_back();
      }
      return fail(fault::no_pages);
    }
    pages_.push_back(*page);
  }
  return success();
}

std::uint32_t sequence::truncate(std::uint32_t to) {
  length_ = std::min(length_, to);
  const std::size_t keep = pages_for(length_);
  while (pages_.size() > keep) {
    pool_->release(pages_.back());
    pages_.pop_back();
  }
  return length_;
}

}  // namespace infer::plan
