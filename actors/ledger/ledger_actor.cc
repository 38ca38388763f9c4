// The ledger's behaviour.
#include "actors/ledger/ledger_actor.h"

#include <caf/all.hpp>
#include <chrono>

#include "actors/support/error_bridge.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

constexpr std::chrono::seconds earmark_lifetime{5};

}  // namespace

ledger_state::ledger_state(inner_ledger_actor::pointer self) : self_(self) {}

void ledger_state::granted(std::uint64_t claim_id) {
  if (const auto at = claimants_.find(claim_id); at != claimants_.end())
    self_->send(at->second, msg::claim_granted{claim_id});
  self_->delayed_send(self_, earmark_lifetime, msg::expire_claim{claim_id});
}

void ledger_state::advance() {
  for (const std::uint64_t claim_id : line_->advance()) granted(claim_id);
}

inner_ledger_actor::behavior_type ledger_state::make(std::shared_ptr<memory::budget> budget) {
  line_.emplace(budget);
  self_->set_exception_handler(crash_handler(name));
  // Freed bytes arrive from any thread; the budget outlives this actor, so it gets a weak address.
  budget->on_freed([weak = caf::actor_cast<caf::actor_addr>(self_)](std::uint64_t bytes) {
    if (const auto ledger = caf::actor_cast<caf::actor>(weak)) caf::anon_send(ledger, msg::memory_freed{bytes});
  });
  self_->set_down_handler([this](caf::down_msg& down) {
    std::erase_if(claimants_, [&](const auto& entry) {
      if (entry.second.address() != down.source) return false;
      line_->cancel(entry.first);
      return true;
    });
    advance();
  });
  return {
      [this](const msg::claim_memory& message, const claimant& who) {
        claimants_[message.claim_id] = who;
        self_->monitor(who);
        const claim_result result = line_->claim(message.claim_id, message.bytes);
        switch (result.answer) {
          case claim_answer::granted:
            return granted(message.claim_id);
          case claim_answer::waiting:
            return self_->send(who, msg::claim_waiting{message.claim_id, result.missing});
          case claim_answer::refused:
            claimants_.erase(message.claim_id);
            return self_->send(who, msg::claim_refused{message.claim_id, result.message});
        }
      },
      [this](const msg::cancel_claim& message) {
        claimants_.erase(message.claim_id);
        line_->cancel(message.claim_id);
        advance();
      },
      [this](const msg::memory_freed&) { advance(); },
      [this](const msg::expire_claim& message) {
        claimants_.erase(message.claim_id);
        line_->expire(message.claim_id);
      },
  };
}

inner_ledger_actor::behavior_type run_ledger(inner_ledger_actor::stateful_pointer<ledger_state> self,
                                             std::shared_ptr<memory::budget> budget) {
  static_assert(!std::is_aggregate_v<ledger_state>);
  return self->state.make(std::move(budget));
}

}  // namespace infer::actors
