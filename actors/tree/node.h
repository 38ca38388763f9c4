// A node: the whole tree in an actor system, and the two addresses that a program talks to.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "actors/model/model_core.h"
#include "actors/model/models_actor.h"
#include "actors/support/spawn_kind.h"
#include "actors/support/supervisor.h"
#include "actors/zoo/zoo_state.h"
#include "protocol/interfaces/actors.h"

namespace infer {

struct node_config {
  std::vector<actors::zoo_model> models;  // the first is the default
  std::uint64_t memory_bytes = 0;         // 0: 80 % of the smaller of RAM and cgroup limit
  std::uint64_t own_bytes = 0;            // of it for what is no model: the program, its connections
  std::uint32_t compute_threads = 0;      // 0: one per core that this process may use
  actors::core_hooks hooks;               // for tests
  actors::model_threads threads;          // tests run everything pooled
  actors::thread_kind loader_workers = actors::thread_kind::own;
  actors::restart_limits limits;
  /// Spawns the gateway under the root, opened last and closed first; empty: none.
  std::function<caf::actor(caf::actor_system&, const requests_actor&, const zoo_actor&)> gateway;
};

/// Handles to a running node. Copyable; drop all copies before the actor system ends.
struct node {
  caf::actor root;
  requests_actor requests;
  zoo_actor zoo;
  std::shared_ptr<memory::budget> budget;
};

/// Scheduling that the actors are written for (caf-notes: fairness over throughput) and every message type. Call on a
/// configuration before its actor system is made.
void configure(caf::actor_system_config& config);

/// Spawns the tree into `system`.
node spawn_node(caf::actor_system& system, node_config config);

/// Stops the tree in reverse order: each child gets `grace`, then it is killed. True where the root ended within
/// `deadline`. Blocks; not for actors.
bool stop_node(caf::actor_system& system, node& n, std::chrono::milliseconds grace = std::chrono::seconds(2),
               std::chrono::milliseconds deadline = std::chrono::seconds(15));

/// Bytes that a node may use where nothing is configured: 80 % of the smaller of RAM and cgroup limit.
std::uint64_t default_memory_bytes();

}  // namespace infer
