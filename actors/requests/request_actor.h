// One actor per HTTP request, and the front that spawns them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/requests/request_state.h"
#include "actors/support/watch.h"
#include "protocol/interfaces/actors.h"

namespace infer::actors {

/// A request listens to its sink, to the zoo and to a port.
using request_actor = request_control::extend_with<lease_sink>::extend_with<stream_sink>;

class request_actor_state : public request_output {
 public:
  explicit request_actor_state(request_actor::pointer self);
  request_actor::behavior_type make(msg::generate request, event_sink sink, zoo_actor zoo);

  void acquire(const msg::acquire& message) override;
  void release(const msg::release& message) override;
  void encode(const msg::encode_prompt& message) override;
  void decode_ids(const msg::decode_ids& message) override;
  void open(const msg::open_stream& message) override;
  void grant(const msg::grant& message) override;
  void close(const msg::close_stream& message) override;
  void emit(const msg::request_waiting& event) override;
  void emit(const msg::request_started& event) override;
  void emit(const msg::text_made& event) override;
  void emit(const msg::choice_finished& event) override;
  void emit(const msg::request_finished& event) override;
  void emit(const msg::request_failed& event) override;
  void emit(const msg::text_transformed& event) override;
  void done() override;

  const char* name = "request";

 private:
  template <class Interface>
  Interface myself() const;

  request_actor::pointer self_;
  event_sink sink_;
  zoo_actor zoo_;
  port_actor port_;
  watch port_watch_;
  std::optional<request_state> state_;
};

request_actor::behavior_type run_request(request_actor::stateful_pointer<request_actor_state> self,
                                         msg::generate request, event_sink sink, zoo_actor zoo);

/// The front: spawns requests, passes a new zoo's question on to each.
class requests_state {
 public:
  explicit requests_state(requests_actor::pointer self);
  requests_actor::behavior_type make(zoo_actor zoo);

  const char* name = "requests";

 private:
  requests_actor::pointer self_;
  zoo_actor zoo_;
  std::map<caf::actor_addr, lease_sink> running_;
};

requests_actor::behavior_type run_requests(requests_actor::stateful_pointer<requests_state> self, zoo_actor zoo);

}  // namespace infer::actors
