// The loader: one own-thread worker per load, each of which can be cancelled.
#pragma once

#include <caf/actor.hpp>
#include <map>

#include "actors/loader/load_model.h"
#include "actors/support/spawn_kind.h"
#include "protocol/interfaces/actors.h"

namespace infer::actors {

struct loader_config {
  std::shared_ptr<memory::budget> budget;
  std::shared_ptr<threads::compute_lane> lane;
  core_hooks hooks;
  thread_kind workers = thread_kind::own;
};

class loader_state {
 public:
  explicit loader_state(loader_actor::pointer self);
  loader_actor::behavior_type make(loader_config config);

  const char* name = "loader";

 private:
  struct job {
    std::shared_ptr<cancel_flag> cancel;
    loader_sink sink;
    std::uint32_t generation = 0;
    std::string id;
  };
  void start(const msg::model_source& source, std::uint32_t generation, std::uint64_t claim_id,
             const loader_sink& sink);

  loader_actor::pointer self_;
  loader_config config_;
  std::map<caf::actor_addr, job> jobs_;  // by worker
};

loader_actor::behavior_type run_loader(loader_actor::stateful_pointer<loader_state> self, loader_config config);

}  // namespace infer::actors
