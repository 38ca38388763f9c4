// Tickets in order.
#include "engine/threads/compute_lane.h"

namespace infer::threads {

std::uint64_t compute_lane::waiting() const {
  const std::lock_guard lock(mutex_);
  return last_ticket_ > serving_ ? last_ticket_ - serving_ - 1 : 0;
}

void compute_lane::enter() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = last_ticket_++;
  next_.wait(lock, [&] { return serving_ == mine; });
}

void compute_lane::leave() {
  {
    const std::lock_guard lock(mutex_);
    ++serving_;
  }
  next_.notify_all();
}

}  // namespace infer::threads
