// A one-for-one supervisor: starts its children in order, restarts those that die with back-off, gives up after too
// many, stops them in reverse. It holds no logic of its own and traps exits, so that its children die with it.
#pragma once

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "protocol/messages/tree.h"

namespace infer::actors {

enum class restart_policy : std::uint8_t {
  permanent,  // restarted whenever it ends
  escalate,   // its end ends the supervisor
};

/// A row of a supervision tree.
struct child_spec {
  std::string name;
  restart_policy restart = restart_policy::permanent;
  std::string thread = "pooled";           // for people; `start` decides
  std::vector<std::string> needs;          // children that must stand above it
  std::vector<std::string> restarts_with;  // children that are restarted when this one dies
  /// Spawns the child. May throw; that counts as a death.
  std::function<caf::actor(caf::actor_system&)> start;
};

/// Design §4.2: back-off 50 ms to 2 s, reset after 5 s of health, at most 12 restarts in 60 s.
struct restart_limits {
  std::chrono::milliseconds first_delay{50};
  std::chrono::milliseconds longest_delay{2000};
  std::chrono::milliseconds healthy_after{5000};
  std::chrono::milliseconds window{60000};
  std::size_t restarts_in_window = 12;
};

struct supervisor_options {
  std::string name;
  restart_limits limits;
  /// Called after every start of a child, with its handle and whether it is a restart.
  std::function<void(const std::string& name, const caf::actor& child, bool again)> on_started;
};

class supervisor_state {
 public:
  explicit supervisor_state(caf::event_based_actor* self);

  /// Starts the rows in order and returns the behaviour. A start that throws is retried like a death.
  caf::behavior make(std::vector<child_spec> rows, supervisor_options options);

  const char* name = "supervisor";

 private:
  struct child {
    child_spec spec;
    caf::actor handle;
    std::uint64_t generation = 0;
    std::uint32_t restarts = 0;
    std::chrono::milliseconds delay{0};
    caf::actor_clock::time_point started_at;
    bool restart_due = false;
    bool taken_along = false;  // told to end because another died
    bool waits = false;        // has died; those that restart with it have not ended yet
  };

  child* find(const std::string& name);
  child* find(const caf::actor_addr& address);
  void start(child& c, bool again);
  bool take_companions(const child& c);
  void companion_ended(child& c);
  void ended(const caf::exit_msg& exit);
  void schedule_restart(child& c);
  bool too_many_restarts();
  void give_up(const caf::error& why);
  void stop_all(std::chrono::milliseconds grace, caf::error reason);
  void stop_next();
  std::vector<msg::child_row> rows() const;

  caf::event_based_actor* self_;
  supervisor_options options_;
  std::vector<child> children_;
  std::deque<caf::actor_clock::time_point> recent_;
  bool stopping_ = false;
  caf::error stop_reason_;
  std::chrono::milliseconds grace_{0};
  std::uint64_t stop_step_ = 0;
};

using supervisor_actor = caf::stateful_actor<supervisor_state>;

/// The function to spawn a supervisor of fixed rows with.
caf::behavior supervise(supervisor_actor* self, std::vector<child_spec> rows, supervisor_options options);

}  // namespace infer::actors
