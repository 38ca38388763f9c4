// The meeting place of sockets and actors.
#include "actors/gateway/exchange.h"

#include <utility>

namespace infer::actors {

exchange::exchange(exchange_order order, std::function<void()> wake)
    : order_(std::move(order)), wake_(std::move(wake)) {}

void exchange::post(exchange_event event) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  events_.push_back(std::move(event));
  if (events_.size() == 1 && wake_) wake_();
}

void exchange::attach(std::shared_ptr<exchange_control> control) {
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    control_ = control;
    cancelled = cancelled_;
  }
  if (cancelled) control->cancel();
}

bool exchange::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

bool exchange::attached() const {
  const std::lock_guard lock(mutex_);
  return control_ != nullptr;
}

std::deque<exchange_event> exchange::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

void exchange::taken(std::uint32_t choice, std::uint32_t upto) {
  std::shared_ptr<exchange_control> control;
  {
    const std::lock_guard lock(mutex_);
    control = control_;
  }
  if (control) control->taken(choice, upto);
}

void exchange::close(bool cancel) {
  std::shared_ptr<exchange_control> control;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    cancelled_ = cancel;
    wake_ = nullptr;
    events_.clear();
    control = control_;
  }
  if (cancel && control) control->cancel();
}

}  // namespace infer::actors
