// The gateway actor.
#include <caf/all.hpp>
#include <utility>

#include "actors/gateway/adaptors.h"
#include "actors/gateway/gateway.h"
#include "actors/gateway/link.h"
#include "actors/support/error_bridge.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

/// While it lives the link wakes this actor.
class connection_to_link {
 public:
  connection_to_link(std::shared_ptr<gateway_link> link, const caf::actor& self) : link_(std::move(link)) {
    // The wake travels as a plain unit: it never leaves the process.
    link_->connect(this, [address = self.address()] {
      if (const auto to = caf::actor_cast<caf::actor>(address)) caf::anon_send(to, caf::unit);
    });
  }
  ~connection_to_link() { link_->disconnect(this); }
  connection_to_link(const connection_to_link&) = delete;

  gateway_link& operator*() const { return *link_; }

 private:
  std::shared_ptr<gateway_link> link_;
};

}  // namespace

caf::behavior run_gateway(caf::event_based_actor* self, std::shared_ptr<gateway_link> link, requests_actor requests,
                          zoo_actor zoo) {
  self->set_exception_handler(crash_handler("gateway"));
  auto connection = std::make_shared<connection_to_link>(std::move(link), caf::actor(self));
  return {
      [self, connection, requests, zoo](caf::unit_t) {
        for (auto& next : (**connection).take()) {
          if (next->closed()) continue;
          if (std::holds_alternative<msg::generate>(next->order()))
            spawn_event_adaptor(self, std::move(next), requests);
          else
            spawn_list_adaptor(self, std::move(next), zoo);
        }
      },
  };
}

}  // namespace infer::actors
