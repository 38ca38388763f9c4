// Whom a request listens to.
#include "actors/requests/request_actor.h"

#include <gtest/gtest.h>

#include <caf/all.hpp>
#include <chrono>
#include <optional>

#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

using namespace std::chrono_literals;

struct prepared_config : caf::actor_system_config {
  prepared_config() { register_messages(*this); }
};

/// The next message of type `Message`; others stay where they are.
template <class Message>
std::optional<Message> next_of(caf::scoped_actor& self, std::chrono::milliseconds patience = 10s) {
  std::optional<Message> out;
  self->receive([&](const Message& message) { out = message; },
                [&](const Message& message, const lease_sink&) { out = message; },
                [&](const Message& message, const stream_sink&) { out = message; }, caf::after(patience) >> [] {});
  return out;
}

TEST(RequestActor, AGrantThatIsGivenBackChangesNothing) {
  prepared_config config;
  caf::actor_system system(config);
  caf::scoped_actor sink(system), zoo(system), port(system);
  msg::generate order;
  order.request_id = 5;
  order.prompt.kind = msg::prompt_kind::text;
  const auto handle = [](const caf::scoped_actor& of) { return caf::strong_actor_ptr(of->ctrl()); };
  const auto request = system.spawn(run_request, order, caf::actor_cast<event_sink>(handle(sink)),
                                    caf::actor_cast<zoo_actor>(handle(zoo)));
  ASSERT_TRUE(next_of<msg::acquire>(zoo));
  caf::anon_send(request, msg::lease_granted{5, 1, 1, 3, "m"}, caf::actor_cast<port_actor>(handle(port)));
  ASSERT_TRUE(next_of<msg::encode_prompt>(port));
  {
    caf::scoped_actor other(system);
    caf::anon_send(request, msg::lease_granted{5, 2, 1, 3, "m"}, caf::actor_cast<port_actor>(handle(other)));
    const auto released = next_of<msg::release>(zoo);
    ASSERT_TRUE(released);
    EXPECT_EQ(released->lease_id, 2u);
  }
  caf::anon_send(request, msg::prompt_encoded{5, {10, 11}, {}, {}, 100});
  EXPECT_TRUE(next_of<msg::open_stream>(port)) << "it is still the first port that it works with";
  EXPECT_FALSE(next_of<msg::acquire>(zoo, 200ms)) << "the end of the other does not matter";
  caf::anon_send(request, msg::cancel_request{5});
  const auto released = next_of<msg::release>(zoo);
  ASSERT_TRUE(released);
  EXPECT_EQ(released->lease_id, 1u);
}

}  // namespace
}  // namespace infer::actors
