// The decode's behaviour: messages between steps, steps while there is work.
#include "actors/model/decode_actor.h"

#include <algorithm>
#include <caf/all.hpp>

#include "actors/support/error_bridge.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {

decode_actor_state::decode_actor_state(decode_actor::pointer self) : self_(self) {}

void decode_actor_state::made(msg::raw_tokens tokens) {
  self_->send(port_, std::move(tokens));
}

void decode_actor_state::refused(msg::stream_refused refusal) {
  self_->send(port_, std::move(refusal));
}

void decode_actor_state::opened(msg::stream_opened opened) {
  self_->send(port_, std::move(opened));
}

void decode_actor_state::go_on() {
  if (step_due_) return;
  if (batch_->has_work()) {
    step_due_ = true;
    self_->send(self_, msg::make_step{epoch_});
  } else if (const auto due = batch_->due(); due && due != wake_due_) {
    wake_due_ = due;
    self_->delayed_send(self_, std::max(*due - self_->clock().now(), caf::timespan::zero()), msg::make_step{});
  }
}

void decode_actor_state::step(const msg::make_step& message) {
  if (message.epoch == 0) {
    wake_due_.reset();
  } else {
    step_due_ = false;
    batch_->step();
  }
  go_on();
}

decode_actor::behavior_type decode_actor_state::make(std::shared_ptr<model_core> core, std::uint64_t epoch) {
  core_ = std::move(core);
  epoch_ = epoch;
  core_->journal.clear();
  batch_.emplace(core_, epoch_, *this, [this] { return self_->clock().now(); });
  self_->set_exception_handler(crash_handler("decode of " + core_->source.id));
  return {
      [this](const msg::make_step& message) { step(message); },
      [this](const msg::grant& message) {
        batch_->grant(message);
        go_on();
      },
      [this](const msg::open_stream& message, const msg::stream_slot& slot, const raw_token_sink& port) {
        port_ = port;
        batch_->open(message, slot.index);
        go_on();
      },
      [this](const msg::close_stream& message) {
        batch_->close(message);
        go_on();
      },
  };
}

decode_actor::behavior_type run_decode(decode_actor::stateful_pointer<decode_actor_state> self,
                                       std::shared_ptr<model_core> core, std::uint64_t epoch) {
  static_assert(!std::is_aggregate_v<decode_actor_state>);
  return self->state.make(std::move(core), epoch);
}

}  // namespace infer::actors
