// Behaviours of requests.
#include "actors/requests/request_actor.h"

#include <caf/all.hpp>
#include <random>

#include "actors/support/error_bridge.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {

request_actor_state::request_actor_state(request_actor::pointer self) : self_(self) {}

template <class Interface>
Interface request_actor_state::myself() const {
  return caf::actor_cast<Interface>(caf::strong_actor_ptr(self_->ctrl()));
}

void request_actor_state::acquire(const msg::acquire& message) {
  self_->send(zoo_, message, myself<lease_sink>());
}
void request_actor_state::release(const msg::release& message) {
  self_->send(zoo_, message);
}
void request_actor_state::encode(const msg::encode_prompt& message) {
  self_->send(port_, message, myself<stream_sink>());
}
void request_actor_state::decode_ids(const msg::decode_ids& message) {
  self_->send(port_, message, myself<stream_sink>());
}
void request_actor_state::open(const msg::open_stream& message) {
  self_->send(port_, message, myself<stream_sink>());
}
void request_actor_state::grant(const msg::grant& message) {
  self_->send(port_, message);
}
void request_actor_state::close(const msg::close_stream& message) {
  self_->send(port_, message);
}
void request_actor_state::emit(const msg::request_waiting& event) {
  self_->send(sink_, event);
}
void request_actor_state::emit(const msg::request_started& event) {
  self_->send(sink_, event);
}
void request_actor_state::emit(const msg::text_made& event) {
  self_->send(sink_, event);
}
void request_actor_state::emit(const msg::choice_finished& event) {
  self_->send(sink_, event);
}
void request_actor_state::emit(const msg::request_finished& event) {
  self_->send(sink_, event);
}
void request_actor_state::emit(const msg::request_failed& event) {
  self_->send(sink_, event);
}
void request_actor_state::emit(const msg::text_transformed& event) {
  self_->send(sink_, event);
}
void request_actor_state::done() {
  self_->quit();
}

request_actor::behavior_type request_actor_state::make(msg::generate request, event_sink sink, zoo_actor zoo) {
  sink_ = std::move(sink);
  zoo_ = std::move(zoo);
  const std::uint64_t request_id = request.request_id;
  std::random_device entropy;
  const std::uint64_t seed = (std::uint64_t{entropy()} << 21 ^ entropy()) & ((std::uint64_t{1} << 53) - 1);
  state_.emplace(std::move(request), seed, *this, [this] { return self_->clock().now(); });
  self_->set_exception_handler(crash_handler("request " + std::to_string(request_id)));
  self_->set_down_handler([this](caf::down_msg& down) {
    if (down.source == sink_.address()) return state_->cancel();
    if (port_ && down.source == port_.address()) {
      port_ = nullptr;
      state_->port_down();
    }
  });
  self_->monitor(sink_);
  self_->send(sink_, msg::request_accepted{request_id}, myself<request_control>());
  state_->start();
  return {
      [this](const msg::taken& message) { state_->taken(message); },
      [this](const msg::cancel_request&) { state_->cancel(); },
      [this](const msg::lease_granted& message, const port_actor& port) {
        if (state_->waits_for_lease()) {
          port_ = port;
          port_watch_ = watch(self_, port);
        }
        state_->granted(message);
      },
      [this](const msg::lease_waiting& message) { state_->waiting(message); },
      [this](const msg::lease_refused& message) { state_->refused(message); },
      [this](const msg::who_holds&) {
        msg::announce message;
        if (state_->zoo_restarted(message)) self_->send(zoo_, message, myself<lease_sink>(), port_);
      },
      [this](const msg::tokens_made& message) { state_->made(message); },
      [this](const msg::stream_opened& message) { state_->opened(message); },
      [this](const msg::stream_refused& message) { state_->open_refused(message); },
      [](const msg::stream_closed&) {},
      [this](const msg::stream_lost& message) { state_->lost(message); },
      [this](const msg::prompt_encoded& message) { state_->encoded(message); },
      [this](const msg::prompt_refused& message) { state_->encode_refused(message); },
      [this](const msg::ids_decoded& message) { state_->decoded(message); },
  };
}

request_actor::behavior_type run_request(request_actor::stateful_pointer<request_actor_state> self,
                                         msg::generate request, event_sink sink, zoo_actor zoo) {
  static_assert(!std::is_aggregate_v<request_actor_state>);
  return self->state.make(std::move(request), std::move(sink), std::move(zoo));
}

requests_state::requests_state(requests_actor::pointer self) : self_(self) {}

requests_actor::behavior_type requests_state::make(zoo_actor zoo) {
  zoo_ = std::move(zoo);
  self_->set_exception_handler(crash_handler(name));
  // Linked and trapped: requests die with their front, the front does not die with a request.
  self_->set_exit_handler([this](caf::exit_msg& exit) {
    if (running_.erase(exit.source) == 0) self_->quit(exit.reason);
  });
  return {
      [this](const msg::generate& message, const event_sink& sink) {
        const auto request = self_->spawn<caf::linked>(run_request, message, sink, zoo_);
        running_[request.address()] = request;
      },
      [this](const msg::who_holds& message) {
        for (const auto& [address, request] : running_) self_->send(request, message);
      },
  };
}

requests_actor::behavior_type run_requests(requests_actor::stateful_pointer<requests_state> self, zoo_actor zoo) {
  static_assert(!std::is_aggregate_v<requests_state>);
  return self->state.make(std::move(zoo));
}

}  // namespace infer::actors
