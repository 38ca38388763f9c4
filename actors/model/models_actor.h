// The supervisor of models: one supervisor per loaded model, none of whose ends takes another along.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/model/model_rows.h"
#include "protocol/interfaces/actors.h"

namespace infer::actors {

struct models_config {
  model_threads threads;
  restart_limits limits;
};

/// The supervisor of models and what it hears from below.
using inner_models_actor =
    models_actor::extend<caf::reacts_to<msg::model_started, port_actor>, caf::reacts_to<msg::check_credited>>;

class models_state {
 public:
  explicit models_state(inner_models_actor::pointer self);
  inner_models_actor::behavior_type make(models_config config);

  const char* name = "models";

 private:
  struct running {
    msg::model_started row;
    caf::actor supervisor;
    port_actor port;
    std::weak_ptr<model_core> core;
    std::string why;  // of an end that nobody asked for
    bool ended = false;
    std::optional<std::pair<msg::start_model, msg::model_handle>> next;  // starts when this one is gone
  };
  void start(const msg::start_model& message, const msg::model_handle& handle, const models_sink& sink);
  void ended(const caf::exit_msg& exit);
  void report_when_credited(const std::string& id);

  inner_models_actor::pointer self_;
  models_config config_;
  models_sink sink_;
  std::map<std::string, running> models_;
};

inner_models_actor::behavior_type run_models(inner_models_actor::stateful_pointer<models_state> self,
                                             models_config config);

}  // namespace infer::actors
