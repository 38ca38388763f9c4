// Look-ups of kept prefixes.
#include "actors/model/sessions_actor.h"

#include <caf/all.hpp>

#include "actors/support/error_bridge.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {

sessions_state::sessions_state(sessions_actor::pointer self) : self_(self) {}

sessions_actor::behavior_type sessions_state::make() {
  self_->set_exception_handler(crash_handler(name));
  return {[this](const msg::find_prefix& message) {
    ++look_ups_;
    return msg::prefix_found{message.key, message.attempt, 0};
  }};
}

sessions_actor::behavior_type run_sessions(sessions_actor::stateful_pointer<sessions_state> self) {
  static_assert(!std::is_aggregate_v<sessions_state>);
  return self->state.make();
}

}  // namespace infer::actors
