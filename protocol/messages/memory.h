// Claims on memory: the ledger's conversation. Numbers only; the leases themselves never travel.
#pragma once

#include "protocol/messages/scalars.h"

namespace infer::msg {

/// zoo → ledger: hold `bytes` for `claim_id`. Waits in line until they are free; a waiter holds nothing.
struct claim_memory {
  std::uint64_t claim_id = 0;
  std::uint64_t bytes = 0;
};
/// ledger → zoo: the bytes are set aside; whoever loads takes them within five seconds or they go back.
struct claim_granted {
  std::uint64_t claim_id = 0;
};
/// ledger → zoo: not now; `missing` bytes have to become free first.
struct claim_waiting {
  std::uint64_t claim_id = 0;
  std::uint64_t missing = 0;
};
/// ledger → zoo: never; the message has the numbers.
struct claim_refused {
  std::uint64_t claim_id = 0;
  std::string message;
};
/// zoo → ledger: give up a claim in any state. Bytes already taken stay with their lease.
struct cancel_claim {
  std::uint64_t claim_id = 0;
};
/// budget → ledger: bytes became free.
struct memory_freed {
  std::uint64_t bytes = 0;
};

/// ledger to itself: an earmark's time is over.
struct expire_claim {
  std::uint64_t claim_id = 0;
};

template <class I>
auto inspect(I& f, expire_claim& x) {
  return f(x.claim_id);
}
template <class I>
auto inspect(I& f, claim_memory& x) {
  return f(x.claim_id, x.bytes);
}
template <class I>
auto inspect(I& f, claim_granted& x) {
  return f(x.claim_id);
}
template <class I>
auto inspect(I& f, claim_waiting& x) {
  return f(x.claim_id, x.missing);
}
template <class I>
auto inspect(I& f, claim_refused& x) {
  return f(x.claim_id, x.message);
}
template <class I>
auto inspect(I& f, cancel_claim& x) {
  return f(x.claim_id);
}
template <class I>
auto inspect(I& f, memory_freed& x) {
  return f(x.bytes);
}

}  // namespace infer::msg
