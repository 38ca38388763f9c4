// A monitor that is taken back when whoever watched ends.
#pragma once

#include <caf/local_actor.hpp>
#include <utility>

namespace infer::actors {

/// CAF keeps a monitor, and with it the memory of a dead watcher, in the watched actor until that one ends: a watcher
/// that comes and goes must take its monitors of long-lived actors back. Belongs to the state of the watching actor.
class watch {
 public:
  watch() = default;
  /// Monitors `whom`; its end arrives at the down handler of `self`.
  template <class Handle>
  watch(caf::local_actor* self, const Handle& whom) : self_(self), whom_(whom.address()) {
    self->monitor(whom);
  }
  watch(watch&& other) noexcept : self_(std::exchange(other.self_, nullptr)), whom_(std::move(other.whom_)) {}
  watch& operator=(watch&& other) noexcept {
    std::swap(self_, other.self_);
    std::swap(whom_, other.whom_);
    return *this;
  }
  ~watch() {
    if (self_ != nullptr) self_->demonitor(whom_);
  }

 private:
  caf::local_actor* self_ = nullptr;
  caf::actor_addr whom_;
};

}  // namespace infer::actors
