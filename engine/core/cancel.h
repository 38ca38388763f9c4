// The cancel flag: one of the two things that threads share and change.
#pragma once

#include <atomic>

namespace infer {

/// Set once by whoever learns that the work is no longer wanted, polled by the work once per layer.
/// Threads: any thread may set or read it.
class cancel_flag {
 public:
  void set() noexcept { flag_.store(true, std::memory_order_release); }
  void reset() noexcept { flag_.store(false, std::memory_order_release); }
  bool is_set() const noexcept { return flag_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace infer
