// The zoo: the state machine with messages in and out, handles of those who asked, and one timer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/zoo/zoo_state.h"
#include "protocol/interfaces/actors.h"

namespace infer::actors {

struct zoo_config {
  std::vector<zoo_model> models;
  std::uint64_t epoch = 1;
  ledger_actor ledger;
  loader_actor loader;
  models_actor models_supervisor;
  /// Asked who holds what when this zoo is not the first; null for the first.
  requests_actor requests;
};

/// Everything the zoo listens to.
using inner_zoo_actor = zoo_actor::extend_with<claimant>::extend_with<loader_sink>::extend_with<models_sink>::extend<
    caf::reacts_to<msg::zoo_tick>>;

class zoo_actor_state : public zoo_output {
 public:
  explicit zoo_actor_state(inner_zoo_actor::pointer self);
  inner_zoo_actor::behavior_type make(zoo_config config);

  void measure(const msg::measure_model& message) override;
  void claim(const msg::claim_memory& message) override;
  void cancel_claim(const msg::cancel_claim& message) override;
  void load(const msg::load_weights& message) override;
  void cancel_load(const msg::cancel_load& message) override;
  void start(const msg::start_model& message) override;
  void stop(const msg::stop_model& message) override;
  void grant(const msg::lease_granted& message) override;
  void wait(const msg::lease_waiting& message) override;
  void refuse(const msg::lease_refused& message) override;
  void changed(const msg::model_changed& message) override;

  const char* name = "zoo";

 private:
  template <class Interface>
  Interface myself() const;
  std::vector<msg::model_row> rows() const;
  void know(std::uint64_t request_id, const lease_sink& who);
  zoo_time now() const;
  void after_event();

  inner_zoo_actor::pointer self_;
  zoo_config config_;
  std::optional<zoo_state> state_;
  std::map<std::uint64_t, lease_sink> requests_;
  std::map<std::uint64_t, admin_sink> admins_;
  std::map<std::string, port_actor> ports_;
  std::map<std::string, std::weak_ptr<const model_core>> running_;
  msg::model_handle arriving_;  // came with model_loaded, goes with start_model
  std::uint64_t timer_ = 0;
  std::optional<zoo_time> timer_due_;
};

inner_zoo_actor::behavior_type run_zoo(inner_zoo_actor::stateful_pointer<zoo_actor_state> self, zoo_config config);

}  // namespace infer::actors
