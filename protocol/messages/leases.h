// A request asks the zoo for a model and gives it back.
#pragma once

#include "protocol/messages/scalars.h"

namespace infer::msg {

/// request → zoo: wants `model`; answered by lease_granted or lease_refused, before that any number of lease_waiting.
struct acquire {
  std::uint64_t request_id = 0;
  std::string model;  // id or alias; empty: the default model
  std::int32_t priority = 0;
  std::uint32_t deadline_ms = no_limit;  // how long the request may wait, from sending
};

/// zoo → request, together with the model's port.
struct lease_granted {
  std::uint64_t request_id = 0;
  std::uint64_t lease_id = 0;
  std::uint64_t zoo_epoch = 0;
  std::uint32_t generation = 0;
  std::string model;  // the real id
};

/// zoo → request: what it waits for, for people and keep-alives.
struct lease_waiting {
  std::uint64_t request_id = 0;
  std::string reason;
  std::uint32_t percent = 0;  // of the load, where one runs
};

struct lease_refused {
  std::uint64_t request_id = 0;
  refusal code{};
  std::string message;
  std::uint32_t retry_after_ms = 0;  // 0: do not retry
};

/// request → zoo. Repeated releases are harmless.
struct release {
  std::uint64_t request_id = 0;
  std::uint64_t lease_id = 0;
};

/// A new zoo asks every request what it holds …
struct who_holds {
  std::uint64_t zoo_epoch = 0;
};
/// … and each that holds a lease says so.
struct announce {
  std::uint64_t request_id = 0;
  std::uint64_t lease_id = 0;
  std::uint32_t generation = 0;
  std::string model;
};

template <class I>
auto inspect(I& f, acquire& x) {
  return f(x.request_id, x.model, x.priority, x.deadline_ms);
}
template <class I>
auto inspect(I& f, lease_granted& x) {
  return f(x.request_id, x.lease_id, x.zoo_epoch, x.generation, x.model);
}
template <class I>
auto inspect(I& f, lease_waiting& x) {
  return f(x.request_id, x.reason, x.percent);
}
template <class I>
auto inspect(I& f, lease_refused& x) {
  return f(x.request_id, x.code, x.message, x.retry_after_ms);
}
template <class I>
auto inspect(I& f, release& x) {
  return f(x.request_id, x.lease_id);
}
template <class I>
auto inspect(I& f, who_holds& x) {
  return f(x.zoo_epoch);
}
template <class I>
auto inspect(I& f, announce& x) {
  return f(x.request_id, x.lease_id, x.generation, x.model);
}

}  // namespace infer::msg
