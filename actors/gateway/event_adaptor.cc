// The adaptor of a generation: the sink of its events.
#include <caf/all.hpp>
#include <type_traits>
#include <utility>

#include "actors/gateway/adaptors.h"
#include "actors/support/error_bridge.h"
#include "actors/support/watch.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

/// Holds addresses only: it lives with the socket, and a handle kept there would keep actors alive.
class request_link final : public exchange_control {
 public:
  request_link(std::uint64_t request_id, caf::actor_addr adaptor, caf::actor_addr request)
      : request_id_(request_id), adaptor_(std::move(adaptor)), request_(std::move(request)) {}

  void taken(std::uint32_t choice, std::uint32_t upto) override {
    if (const auto to = strong(request_)) caf::anon_send(to, msg::taken{request_id_, choice, upto});
  }
  void cancel() override {
    if (const auto to = strong(request_))
      caf::anon_send<caf::message_priority::high>(to, msg::cancel_request{request_id_});
    if (const auto to = strong(adaptor_)) caf::anon_send_exit(to, caf::exit_reason::user_shutdown);
  }

 private:
  static caf::actor strong(const caf::actor_addr& address) {
    return address ? caf::actor_cast<caf::actor>(address) : caf::actor();
  }

  std::uint64_t request_id_;
  caf::actor_addr adaptor_, request_;
};

struct adaptor_state {
  adaptor_state() {}
  ~adaptor_state() {
    if (to) to->post(adaptor_ended{});
  }
  adaptor_state(const adaptor_state&) = delete;

  std::shared_ptr<exchange> to;
  watch gateway, computing;
  request_control request;  // held, since a request that nobody holds would end
};

using adaptor_pointer = event_sink::stateful_pointer<adaptor_state>;

template <class Event>
void pass(adaptor_pointer self, const Event& event) {
  self->state.to->post(event);
  constexpr bool last = std::is_same_v<Event, msg::request_finished> || std::is_same_v<Event, msg::request_failed> ||
                        std::is_same_v<Event, msg::text_transformed>;
  if constexpr (last) self->quit();
}

/// The request itself computes from now on; its front need not be watched any more.
void bind_request(adaptor_pointer self, const msg::request_accepted& accepted, const request_control& request) {
  self->state.computing = watch(self, request);
  self->state.request = request;
  self->state.to->attach(std::make_shared<request_link>(accepted.request_id, self->address(), request.address()));
}

event_sink::behavior_type event_adaptor(adaptor_pointer self, std::shared_ptr<exchange> to, caf::actor gateway,
                                        requests_actor requests) {
  static_assert(!std::is_aggregate_v<adaptor_state>);
  self->set_exception_handler(crash_handler("gateway adaptor"));
  self->set_down_handler([](caf::scheduled_actor* me, const caf::down_msg& down) {
    me->quit(down.reason ? down.reason : caf::make_error(caf::sec::runtime_error, "whoever computed has ended"));
  });
  self->state.gateway = watch(self, gateway);
  self->state.computing = watch(self, requests);
  const auto& order = std::get<msg::generate>(to->order());
  self->state.to = std::move(to);
  self->state.to->attach(std::make_shared<request_link>(order.request_id, self->address(), caf::actor_addr()));
  self->send(requests, order, event_sink(self));
  return {
      [self](const msg::text_made& event) { pass(self, event); },
      [self](const msg::choice_finished& event) { pass(self, event); },
      [self](const msg::request_started& event) { pass(self, event); },
      [self](const msg::request_finished& event) { pass(self, event); },
      [self](const msg::request_failed& event) { pass(self, event); },
      [self](const msg::request_waiting& event) { pass(self, event); },
      [self](const msg::request_accepted& event, const request_control& request) {
        bind_request(self, event, request);
      },
      [self](const msg::text_transformed& event) { pass(self, event); },
  };
}

}  // namespace

void spawn_event_adaptor(caf::event_based_actor* gateway, std::shared_ptr<exchange> to,
                         const requests_actor& requests) {
  gateway->spawn(event_adaptor, std::move(to), caf::actor(gateway), requests);
}

}  // namespace infer::actors
