// A front: a stable address for a child that may be restarted. Passes every message on as it came, so that replies go
// straight to who asked; while there is no child, messages wait.
#pragma once

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include "protocol/messages/tree.h"

namespace infer::actors {

class front_state {
 public:
  explicit front_state(caf::event_based_actor* self);
  caf::behavior make(std::string name);

  const char* name = "front";

 private:
  caf::event_based_actor* self_;
  caf::actor target_;
  caf::behavior behaviour_;
};

using front_actor = caf::stateful_actor<front_state>;

caf::behavior run_front(front_actor* self, std::string name);

/// Points a front at a (new) child. Waiting messages go to it in their order.
void set_front(const caf::actor& front, const caf::actor& child);

}  // namespace infer::actors
