// The front of the gateway for main and for the actor tree: a server that owns the sockets and outlives the gateway
// actor, and the actor that connects it to requests and zoo. Nothing of Asio here.
#pragma once

#include <caf/event_based_actor.hpp>
#include <chrono>
#include <cstdint>
#include <memory>

#include "actors/gateway/gateway_config.h"
#include "engine/core/result.h"
#include "protocol/interfaces/actors.h"

namespace prometheus {
class Registry;
}

namespace infer::actors {

enum class gateway_fault {
  cannot_listen = 1,  // address or port; the detail says which and why
};

/// Where HTTP exchanges wait for the gateway actor. Shared by the server and every incarnation of the actor.
class gateway_link;

/// Listener and HTTP sessions on two I/O threads. Belongs to main; goes on while the gateway actor restarts.
/// Threads: all members from one thread.
class http_server {
 public:
  explicit http_server(gateway_config config);
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// Listens and serves. The port listened on.
  /// Errors:  gateway_fault::cannot_listen.
  result<std::uint16_t> start();

  /// For run_gateway.
  std::shared_ptr<gateway_link> link() const;
  /// Where other parts may add series to /metrics.
  std::shared_ptr<prometheus::Registry> metrics() const;

  /// No new connections, no further request on the open ones; running exchanges go on.
  void stop_accepting();
  /// Waits until no exchange is running; false where some still were at the deadline. After stop_accepting().
  bool drain(std::chrono::milliseconds deadline);
  /// Closes every connection and ends the threads.
  void stop();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// The gateway actor: takes exchanges from `link` and spawns an adaptor for each. Its streams end with it; what it had
/// not taken yet waits in the link for the next one.
caf::behavior run_gateway(caf::event_based_actor* self, std::shared_ptr<gateway_link> link, requests_actor requests,
                          zoo_actor zoo);

}  // namespace infer::actors

INFER_FAULT_ENUM(infer::actors, gateway_fault, "gateway");
