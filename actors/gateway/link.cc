// The queue in front of the gateway actor.
#include "actors/gateway/link.h"

#include <utility>

namespace infer::actors {

void gateway_link::submit(exchange_ptr added) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [](const exchange_ptr& waiting) { return waiting->closed(); });
  waiting_.push_back(std::move(added));
  if (wake_) wake_();
}

void gateway_link::connect(const void* owner, std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  owner_ = owner;
  wake_ = std::move(wake);
  if (!waiting_.empty()) wake_();
}

void gateway_link::disconnect(const void* owner) {
  const std::lock_guard lock(mutex_);
  if (owner_ != owner) return;
  owner_ = nullptr;
  wake_ = nullptr;
}

std::deque<gateway_link::exchange_ptr> gateway_link::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

}  // namespace infer::actors
