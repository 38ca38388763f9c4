// An actor system whose scheduler and clock stand still until a test moves them. No test sleeps.
#pragma once

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <chrono>

#include "actors/tree/node.h"
#include "protocol/messages/type_ids.h"

namespace infer::test_support {

class virtual_clock {
 public:
  virtual_clock() {
    configure(config_);
    config_.set("scheduler.policy", caf::atom("testing"));
    system_.emplace(config_);
  }

  /// Exits that were sent last are still handled; the system would wait for them for ever.
  ~virtual_clock() { settle(); }

  caf::actor_system& system() { return *system_; }
  caf::scheduler::test_coordinator& scheduler() {
    return dynamic_cast<caf::scheduler::test_coordinator&>(system_->scheduler());
  }

  /// Runs every actor until none has anything to do. Time does not move. Returns the number of messages handled.
  std::size_t settle(std::size_t at_most = 10'000'000) {
    std::size_t handled = 0;
    while (handled < at_most && scheduler().try_run_once()) ++handled;
    return handled;
  }

  /// Moves time and runs what becomes due, step by step.
  void advance(std::chrono::milliseconds by, std::chrono::milliseconds step = std::chrono::milliseconds(5)) {
    for (std::chrono::milliseconds moved{0}; moved < by; moved += step) {
      scheduler().advance_time(std::min(step, by - moved));
      settle();
    }
  }

 private:
  caf::actor_system_config config_;
  std::optional<caf::actor_system> system_;
};

}  // namespace infer::test_support
