// What every connection of a server shares, as far as it has nothing to do with sockets.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "actors/gateway/gateway_config.h"
#include "actors/gateway/gateway_metrics.h"
#include "actors/gateway/link.h"

namespace infer::actors {

/// Threads: any.
struct server_shared {
  explicit server_shared(gateway_config c) : config(std::move(c)), link(std::make_shared<gateway_link>()) {}

  const gateway_config config;
  const std::shared_ptr<gateway_link> link;
  gateway_metrics metrics;
  std::atomic<std::size_t> buffered{0};  // bytes of bodies
  std::atomic<bool> draining{false};

  void exchange_began() {
    const std::lock_guard lock(mutex_);
    ++running_;
  }
  void exchange_ended() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) none_runs_.notify_all();
  }
  bool wait_until_none_runs(std::chrono::milliseconds deadline) {
    std::unique_lock lock(mutex_);
    return none_runs_.wait_for(lock, deadline, [&] { return running_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_runs_;
  std::size_t running_ = 0;
};

}  // namespace infer::actors
