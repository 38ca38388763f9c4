// The exit that overtakes.
#include "actors/support/shutdown.h"

#include <caf/all.hpp>

namespace infer::actors {

void exit_now(const caf::actor& target, caf::error reason) {
  if (!target) return;
  const auto priority = caf::make_message_id(caf::message_priority::high);
  caf::actor_cast<caf::abstract_actor*>(target)->enqueue(
      nullptr, priority, caf::make_message(caf::exit_msg{target.address(), std::move(reason)}), nullptr);
}

}  // namespace infer::actors
