// Supervision.
#include "actors/support/supervisor.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <caf/all.hpp>

#include "actors/support/error_bridge.h"
#include "actors/support/shutdown.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

/// Sent to itself when a child that is being stopped has had its grace.
constexpr const char* kill_mark = "kill ";

}  // namespace

supervisor_state::supervisor_state(caf::event_based_actor* self) : self_(self) {}

caf::behavior supervisor_state::make(std::vector<child_spec> specs, supervisor_options options) {
  options_ = std::move(options);
  self_->set_exception_handler(crash_handler(options_.name));
  self_->set_exit_handler([this](caf::exit_msg& exit) { ended(exit); });
  for (child_spec& spec : specs) children_.push_back({.spec = std::move(spec)});
  for (std::size_t row = 0; row < children_.size(); ++row) start(children_[row], false);
  return {
      [this](const msg::restart_child& message) {
        if (message.name.starts_with(kill_mark)) {
          child* c = find(message.name.substr(std::string_view(kill_mark).size()));
          if (stopping_ && message.generation == stop_step_ && c != nullptr && c->handle)
            exit_now(c->handle, caf::exit_reason::kill);
          return;
        }
        child* c = find(message.name);
        if (c != nullptr && c->restart_due && c->generation == message.generation && !stopping_) start(*c, true);
      },
      [this](const msg::stop_children& message) { stop_all(std::chrono::milliseconds(message.grace_ms), {}); },
      [this](const msg::report_children& message) -> caf::result<msg::children_report> {
        return msg::children_report{message.request_id, rows()};
      },
  };
}

supervisor_state::child* supervisor_state::find(const std::string& child_name) {
  const auto at = std::ranges::find_if(children_, [&](const child& c) { return c.spec.name == child_name; });
  return at == children_.end() ? nullptr : &*at;
}

supervisor_state::child* supervisor_state::find(const caf::actor_addr& address) {
  const auto at =
      std::ranges::find_if(children_, [&](const child& c) { return c.handle && c.handle.address() == address; });
  return at == children_.end() ? nullptr : &*at;
}

void supervisor_state::start(child& c, bool again) {
  c.restart_due = false;
  ++c.generation;
  c.started_at = self_->clock().now();
  try {
    c.handle = c.spec.start(self_->system());
  } catch (const std::exception& e) {
    spdlog::error("{}/{} did not start: {}", options_.name, c.spec.name, e.what());
    schedule_restart(c);
    return;
  }
  self_->link_to(c.handle);
  if (options_.on_started) options_.on_started(c.spec.name, c.handle, again);
}

void supervisor_state::ended(const caf::exit_msg& exit) {
  child* c = find(exit.source);
  if (c == nullptr) {
    // Not a child: whoever owns this supervisor wants it to end.
    if (exit.source == self_->address() || !stopping_) stop_all(std::chrono::milliseconds(2000), exit.reason);
    return;
  }
  c->handle = nullptr;
  if (stopping_) return stop_next();
  if (exit.reason && exit.reason != caf::exit_reason::user_shutdown)
    spdlog::warn("{}/{} ended: {}", options_.name, c->spec.name, describe(exit.reason));
  if (c->taken_along) return companion_ended(*c);
  switch (c->spec.restart) {
    case restart_policy::escalate:
      return give_up(exit.reason ? exit.reason : caf::make_error(caf::sec::runtime_error, c->spec.name + " ended"));
    case restart_policy::permanent:
      break;
  }
  c->waits = take_companions(*c);
  if (!c->waits) schedule_restart(*c);
}

/// Ends those that restart with a child. True where there are any: an actor ends only when its handler has returned,
/// and nothing that it owns may have two owners until then.
bool supervisor_state::take_companions(const child& c) {
  bool any = false;
  for (const std::string& companion : c.spec.restarts_with) {
    child* const other = find(companion);
    if (other == nullptr || !other->handle) continue;
    other->taken_along = true;
    // Not killed: the end of a killed actor kills who is linked to it.
    exit_now(other->handle, caf::exit_reason::user_shutdown);
    any = true;
  }
  return any;
}

void supervisor_state::companion_ended(child& c) {
  c.taken_along = false;
  schedule_restart(c);
  for (child& other : children_) {
    if (!other.waits || stopping_) continue;
    const auto runs = [this](const std::string& name) {
      const child* const companion = find(name);
      return companion != nullptr && companion->handle;
    };
    other.waits = std::ranges::any_of(other.spec.restarts_with, runs);
    if (!other.waits) schedule_restart(other);
  }
}

void supervisor_state::schedule_restart(child& c) {
  if (too_many_restarts())
    return give_up(caf::make_error(caf::sec::runtime_error, options_.name + "/" + c.spec.name + " died too often"));
  const auto now = self_->clock().now();
  const restart_limits& limits = options_.limits;
  if (c.delay.count() == 0 || now - c.started_at >= limits.healthy_after)
    c.delay = limits.first_delay;
  else
    c.delay = std::min(c.delay * 2, limits.longest_delay);
  c.restart_due = true;
  ++c.restarts;
  self_->delayed_send(self_, c.delay, msg::restart_child{c.spec.name, c.generation});
}

bool supervisor_state::too_many_restarts() {
  const auto now = self_->clock().now();
  while (!recent_.empty() && now - recent_.front() > options_.limits.window) recent_.pop_front();
  recent_.push_back(now);
  return recent_.size() > options_.limits.restarts_in_window;
}

void supervisor_state::give_up(const caf::error& why) {
  if (stopping_) return;
  spdlog::error("{} gives up: {}", options_.name, describe(why));
  stop_all(std::chrono::milliseconds(2000), why);
}

void supervisor_state::stop_all(std::chrono::milliseconds grace, caf::error reason) {
  if (stopping_) return;
  stopping_ = true;
  grace_ = grace;
  stop_reason_ = std::move(reason);
  stop_next();
}

void supervisor_state::stop_next() {
  ++stop_step_;
  for (auto c = children_.rbegin(); c != children_.rend(); ++c) {
    if (!c->handle) continue;
    exit_now(c->handle, caf::exit_reason::user_shutdown);
    self_->delayed_send(self_, grace_, msg::restart_child{kill_mark + c->spec.name, stop_step_});
    return;
  }
  self_->quit(stop_reason_ ? stop_reason_ : caf::error{});
}

std::vector<msg::child_row> supervisor_state::rows() const {
  std::vector<msg::child_row> out;
  for (const child& c : children_)
    out.push_back({c.spec.name, 1,
                   c.handle                   ? "running"
                   : c.restart_due || c.waits ? "restarting"
                                              : "stopped",
                   c.restarts});
  return out;
}

caf::behavior supervise(supervisor_actor* self, std::vector<child_spec> rows, supervisor_options options) {
  static_assert(!std::is_aggregate_v<supervisor_state>);
  return self->state.make(std::move(rows), std::move(options));
}

}  // namespace infer::actors
