// The session-KV store: answers which prefix of a prompt is kept outside the pages of decode, which shares those
// itself. It keeps none yet: every look-up is an honest miss, counted.
#pragma once

#include <cstdint>

#include "protocol/interfaces/actors.h"

namespace infer::actors {

class sessions_state {
 public:
  explicit sessions_state(sessions_actor::pointer self);
  sessions_actor::behavior_type make();

  const char* name = "sessions";

 private:
  sessions_actor::pointer self_;
  std::uint64_t look_ups_ = 0;
};

sessions_actor::behavior_type run_sessions(sessions_actor::stateful_pointer<sessions_state> self);

}  // namespace infer::actors
