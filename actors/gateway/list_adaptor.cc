// The adaptor of a question to the zoo.
#include <caf/all.hpp>
#include <type_traits>
#include <utility>

#include "actors/gateway/adaptors.h"
#include "actors/support/error_bridge.h"
#include "actors/support/watch.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

class list_link final : public exchange_control {
 public:
  explicit list_link(caf::actor_addr adaptor) : adaptor_(std::move(adaptor)) {}
  void taken(std::uint32_t, std::uint32_t) override {}
  void cancel() override {
    if (const auto to = caf::actor_cast<caf::actor>(adaptor_)) caf::anon_send_exit(to, caf::exit_reason::user_shutdown);
  }

 private:
  caf::actor_addr adaptor_;
};

struct list_state {
  list_state() {}
  ~list_state() {
    if (to) to->post(adaptor_ended{});
  }
  list_state(const list_state&) = delete;

  std::shared_ptr<exchange> to;
  watch gateway, zoo;
};

admin_sink::behavior_type list_adaptor(admin_sink::stateful_pointer<list_state> self, std::shared_ptr<exchange> to,
                                       caf::actor gateway, zoo_actor zoo) {
  static_assert(!std::is_aggregate_v<list_state>);
  self->set_exception_handler(crash_handler("gateway list adaptor"));
  self->set_down_handler([](caf::scheduled_actor* me, const caf::down_msg&) {
    me->quit(caf::make_error(caf::sec::runtime_error, "whoever was asked has ended"));
  });
  self->state.gateway = watch(self, gateway);
  self->state.zoo = watch(self, zoo);
  self->state.to = std::move(to);
  self->state.to->attach(std::make_shared<list_link>(self->address()));
  self->send(zoo, std::get<msg::list_models>(self->state.to->order()), admin_sink(self));
  return {
      [self](const msg::model_list& list) {
        self->state.to->post(list);
        self->quit();
      },
      [](const msg::model_changed&) {},
  };
}

}  // namespace

void spawn_list_adaptor(caf::event_based_actor* gateway, std::shared_ptr<exchange> to, const zoo_actor& zoo) {
  gateway->spawn(list_adaptor, std::move(to), caf::actor(gateway), zoo);
}

}  // namespace infer::actors
