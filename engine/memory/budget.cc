// The account's bookkeeping.
#include "engine/memory/budget.h"

#include <utility>

namespace infer::memory {

std::string_view name_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::weights:
      return "weights";
    case memory_kind::load_transient:
      return "load transient";
    case memory_kind::scratch:
      return "scratch";
    case memory_kind::kv:
      return "kv";
    case memory_kind::prompt_cache:
      return "prompt cache";
    case memory_kind::buffers:
      return "buffers";
    case memory_kind::count_:
      break;
  }
  return "unknown";
}

memory_lease::memory_lease(memory_lease&& other) noexcept
    : owner_(std::move(other.owner_)), kind_(other.kind_), bytes_(std::exchange(other.bytes_, 0)) {}

memory_lease& memory_lease::operator=(memory_lease&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(kind_, other.kind_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

memory_lease::~memory_lease() {
  if (owner_) owner_->give_back(kind_, bytes_);
}

std::shared_ptr<budget> budget::make(std::uint64_t total_bytes) {
  return std::shared_ptr<budget>(new budget(total_bytes));
}

std::optional<memory_lease> budget::try_take(memory_kind kind, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > numbers_.free) return std::nullopt;
  numbers_.free -= bytes;
  numbers_.taken[static_cast<std::size_t>(kind)] += bytes;
  return memory_lease(shared_from_this(), kind, bytes);
}

std::optional<memory_lease> budget::try_take_spare(memory_kind kind, std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (bytes > numbers_.spare()) return std::nullopt;
  }
  return try_take(kind, bytes);
}

void budget::set_awaited(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  numbers_.awaited = bytes;
}

bool budget::earmark(std::uint64_t claim_id, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > numbers_.free) return false;
  numbers_.free -= bytes;
  numbers_.earmarked += bytes;
  earmarks_[claim_id] += bytes;
  return true;
}

std::optional<memory_lease> budget::take_earmarked(std::uint64_t claim_id, memory_kind kind, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto at = earmarks_.find(claim_id);
  if (at == earmarks_.end() || at->second < bytes) return std::nullopt;
  at->second -= bytes;
  numbers_.earmarked -= bytes;
  numbers_.taken[static_cast<std::size_t>(kind)] += bytes;
  return memory_lease(shared_from_this(), kind, bytes);
}

std::uint64_t budget::drop_earmark(std::uint64_t claim_id) {
  std::uint64_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto at = earmarks_.find(claim_id);
    if (at == earmarks_.end()) return 0;
    bytes = at->second;
    earmarks_.erase(at);
    numbers_.earmarked -= bytes;
    numbers_.free += bytes;
  }
  notify(bytes);
  return bytes;
}

budget_numbers budget::numbers() const {
  const std::lock_guard lock(mutex_);
  return numbers_;
}

void budget::on_freed(std::function<void(std::uint64_t)> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void budget::give_back(memory_kind kind, std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    numbers_.taken[static_cast<std::size_t>(kind)] -= bytes;
    numbers_.free += bytes;
  }
  notify(bytes);
}

void budget::notify(std::uint64_t bytes) {
  if (bytes == 0) return;
  std::function<void(std::uint64_t)> listener;
  {
    const std::lock_guard lock(mutex_);
    listener = listener_;
  }
  if (listener) listener(bytes);
}

}  // namespace infer::memory
