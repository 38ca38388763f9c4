// The queue between the HTTP server and whichever gateway actor is alive.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "actors/gateway/exchange.h"

namespace infer::actors {

/// Threads: any.
class gateway_link {
 public:
  using exchange_ptr = std::shared_ptr<exchange>;

  /// Queues an exchange and wakes the gateway actor where there is one.
  void submit(exchange_ptr added);

  /// The gateway actor's: `wake` is called whenever there is something to take, at once where there already is.
  /// `owner` tells incarnations apart.
  void connect(const void* owner, std::function<void()> wake);
  /// Forgets the waker of `owner`, if it is still the current one.
  void disconnect(const void* owner);
  std::deque<exchange_ptr> take();

 private:
  std::mutex mutex_;
  std::deque<exchange_ptr> waiting_;
  std::function<void()> wake_;
  const void* owner_ = nullptr;
};

}  // namespace infer::actors
