// One HTTP request that waits for the actors' answer: the place where the sockets' side and the actors' side meet.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>

#include "protocol/messages/models.h"
#include "protocol/messages/requests.h"

namespace infer::actors {

/// What the actors are asked for.
using exchange_order = std::variant<msg::generate, msg::list_models>;

/// The adaptor has ended; nothing more will come.
struct adaptor_ended {};

/// What comes back.
using exchange_event =
    std::variant<msg::text_made, msg::choice_finished, msg::request_started, msg::request_finished, msg::request_failed,
                 msg::request_waiting, msg::text_transformed, msg::model_list, adaptor_ended>;

/// How the sockets' side reaches whoever computes.
class exchange_control {
 public:
  virtual ~exchange_control() = default;
  /// Tokens of `choice` up to `upto` have left the process.
  virtual void taken(std::uint32_t choice, std::uint32_t upto) = 0;
  /// Nobody listens any more.
  virtual void cancel() = 0;
};

/// Threads: any; the events' queue is bounded by the credit that `taken` returns.
class exchange {
 public:
  /// `wake` is called, from any thread, when there is something to take. It must not call back.
  exchange(exchange_order order, std::function<void()> wake);

  const exchange_order& order() const { return order_; }

  // Actors' side.
  /// Queues an event; dropped once the exchange is closed.
  void post(exchange_event event);
  /// From now on `control` is told of credit and of the end; told at once where the end has come.
  void attach(std::shared_ptr<exchange_control> control);
  bool closed() const;
  /// An adaptor has taken it up.
  bool attached() const;

  // Sockets' side.
  std::deque<exchange_event> take();
  void taken(std::uint32_t choice, std::uint32_t upto);
  /// No more wakes. With `cancel` whoever computes is told to stop.
  void close(bool cancel);

 private:
  const exchange_order order_;
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  std::deque<exchange_event> events_;
  std::shared_ptr<exchange_control> control_;
  bool closed_ = false;
  bool cancelled_ = false;
};

}  // namespace infer::actors
