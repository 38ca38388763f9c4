// The subtree of one model: its rows for a supervisor, and the wiring between its children.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/model/model_core.h"
#include "actors/support/spawn_kind.h"
#include "actors/support/supervisor.h"
#include "protocol/interfaces/actors.h"

namespace infer::actors {

struct model_threads {
  thread_kind tokenizer = thread_kind::own;
  thread_kind decode = thread_kind::own;
};

struct model_subtree {
  std::vector<child_spec> rows;  // tokenizer, sessions, decode, port
  std::function<void(const std::string& name, const caf::actor& child, bool again)> on_started;
};

/// Rows and wiring: fronts follow tokenizer and sessions, the port hears of every new decode, and `on_port` of every
/// new port (from the supervisor's thread).
model_subtree make_model_subtree(caf::actor_system& system, std::shared_ptr<model_core> core, model_threads threads,
                                 std::function<void(const port_actor&)> on_port);

}  // namespace infer::actors
