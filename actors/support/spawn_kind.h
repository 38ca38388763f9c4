// Whether an actor shares CAF's workers or has a thread of its own, as data, so that tests run everything pooled.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/spawn_options.hpp>
#include <cstdint>
#include <utility>

namespace infer::actors {

enum class thread_kind : std::uint8_t { pooled, own };

/// Spawns `fun(args…)` in `system` on the kind of thread named.
template <class... Args>
auto spawn_on(caf::actor_system& system, thread_kind kind, Args&&... args) {
  return kind == thread_kind::own ? system.spawn<caf::detached>(std::forward<Args>(args)...)
                                  : system.spawn(std::forward<Args>(args)...);
}

}  // namespace infer::actors
