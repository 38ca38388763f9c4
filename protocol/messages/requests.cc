// Request ids.
#include "protocol/messages/requests.h"

#include <atomic>

namespace infer::msg {

std::uint64_t next_request_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace infer::msg
