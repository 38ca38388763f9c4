// Two pages that change roles at commit.
#include "engine/plan/recurrent_state.h"

#include <utility>

namespace infer::plan {

recurrent_state::recurrent_state(recurrent_state&& other) noexcept
    : source_(other.source_),
      group_(other.group_),
      current_(std::exchange(other.current_, no_page)),
      shadow_(std::exchange(other.shadow_, no_page)) {}

recurrent_state& recurrent_state::operator=(recurrent_state&& other) noexcept {
  std::swap(source_, other.source_);
  std::swap(group_, other.group_);
  std::swap(current_, other.current_);
  std::swap(shadow_, other.shadow_);
  return *this;
}

recurrent_state::~recurrent_state() {
  clear();
}

void recurrent_state::extend(std::span<const page_index> fresh) {
  if (!fresh.empty()) shadow_ = fresh.front();
}

void recurrent_state::commit() {
  if (shadow_ == no_page) return;
  if (current_ != no_page) source_->release(current_);
  current_ = std::exchange(shadow_, no_page);
}

recurrent_state recurrent_state::fork() const {
  recurrent_state out(*source_, group_);
  if (current_ != no_page) source_->share(current_);
  out.current_ = current_;
  return out;
}

void recurrent_state::clear() {
  for (page_index* page : {&current_, &shadow_}) {
    if (*page != no_page) source_->release(std::exchange(*page, no_page));
  }
}

}  // namespace infer::plan
