// Ending actors: an exit that overtakes the queue, because CAF's own waits behind it.
#pragma once

#include <caf/actor.hpp>
#include <caf/error.hpp>

namespace infer::actors {

/// Sends an exit with high priority: handled before what is queued already.
void exit_now(const caf::actor& target, caf::error reason);

}  // namespace infer::actors
