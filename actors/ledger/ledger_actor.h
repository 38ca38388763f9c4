// The ledger: answers claims, watches claimants, lets earmarks expire.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "actors/ledger/ledger_state.h"
#include "protocol/interfaces/actors.h"

namespace infer::actors {

/// The ledger and its own timer.
using inner_ledger_actor = ledger_actor::extend<caf::reacts_to<msg::expire_claim>>;

class ledger_state {
 public:
  explicit ledger_state(inner_ledger_actor::pointer self);
  inner_ledger_actor::behavior_type make(std::shared_ptr<memory::budget> budget);

  const char* name = "ledger";

 private:
  void granted(std::uint64_t claim_id);
  void advance();

  inner_ledger_actor::pointer self_;
  std::optional<claim_line> line_;
  std::map<std::uint64_t, claimant> claimants_;
};

inner_ledger_actor::behavior_type run_ledger(inner_ledger_actor::stateful_pointer<ledger_state> self,
                                             std::shared_ptr<memory::budget> budget);

}  // namespace infer::actors
