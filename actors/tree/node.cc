// Configuring, stopping, and how much memory there is.
#include "actors/tree/node.h"

#include <unistd.h>

#include <algorithm>
#include <caf/all.hpp>
#include <fstream>
#include <string>

#include "actors/support/shutdown.h"
#include "protocol/messages/type_ids.h"

namespace infer {

void configure(caf::actor_system_config& config) {
  register_messages(config);
  config.set("scheduler.policy", caf::atom("sharing"));
  config.set("scheduler.max-threads", static_cast<std::size_t>(2));
  config.set("scheduler.max-throughput", static_cast<std::size_t>(1));
}

std::uint64_t default_memory_bytes() {
  std::uint64_t bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::uint64_t limit = 0;
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes / 10 * 8;
}

bool stop_node(caf::actor_system& system, node& n, std::chrono::milliseconds grace,
               std::chrono::milliseconds deadline) {
  caf::scoped_actor self(system);
  self->monitor(n.root);
  self->send(n.root, msg::stop_children{static_cast<std::uint32_t>(grace.count())});
  bool ended = false;
  self->receive([&](const caf::down_msg&) { ended = true; },
                caf::after(deadline) >> [&] { actors::exit_now(n.root, caf::exit_reason::kill); });
  n = {};
  return ended;
}

}  // namespace infer
