// Passing on.
#include "actors/support/front.h"

#include <caf/all.hpp>

#include "actors/support/error_bridge.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {

front_state::front_state(caf::event_based_actor* self) : self_(self) {}

caf::behavior front_state::make(std::string front_name) {
  self_->set_exception_handler(crash_handler("front of " + front_name));
  self_->set_default_handler([this](caf::scheduled_actor* self, caf::message_view& view) -> caf::result<caf::message> {
    if (!target_) return caf::skip;
    target_->enqueue(caf::make_mailbox_element(self->current_sender(), self->current_message_id(), {},
                                               view.move_content_to_message()),
                     self->context());
    return caf::delegated<caf::message>{};
  });
  self_->set_down_handler([this](caf::down_msg& down) {
    if (target_ && target_.address() == down.source) target_ = nullptr;
  });
  behaviour_ = {[this](msg::front_target, const caf::actor& child) {
    target_ = child;
    self_->monitor(child);
    // A change of behaviour makes CAF look again at the messages that were skipped.
    self_->become(behaviour_);
  }};
  return behaviour_;
}

caf::behavior run_front(front_actor* self, std::string front_name) {
  static_assert(!std::is_aggregate_v<front_state>);
  return self->state.make(std::move(front_name));
}

void set_front(const caf::actor& front, const caf::actor& child) {
  caf::anon_send(front, msg::front_target{}, child);
}

}  // namespace infer::actors
