// Starting and ending models.
#include "actors/model/models_actor.h"

#include <algorithm>
#include <caf/all.hpp>
#include <chrono>

#include "actors/support/error_bridge.h"
#include "actors/support/shutdown.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

/// How often an ended subtree is looked at until the last reference to its memory is gone.
constexpr std::chrono::milliseconds credit_interval{5};

}  // namespace

models_state::models_state(inner_models_actor::pointer self) : self_(self) {}

void models_state::start(const msg::start_model& message, const msg::model_handle& handle, const models_sink& sink) {
  sink_ = sink;
  // A copy that runs already, of a zoo that is no more, goes first.
  if (const auto at = models_.find(message.id); at != models_.end()) {
    at->second.next = {message, handle};
    if (at->second.supervisor) exit_now(at->second.supervisor, caf::exit_reason::user_shutdown);
    return;
  }
  const std::shared_ptr<model_core>& core = handle.core;
  running r;
  r.row = {message.generation, message.id, 0, core->context, core->model.plan.trained_context};
  for (const auto& lease : core->leases) r.row.bytes += lease.bytes();
  r.core = core;
  const auto to_self = caf::actor_cast<caf::actor_addr>(self_);
  const auto on_port = [to_self, row = r.row](const port_actor& port) {
    if (const auto models = caf::actor_cast<caf::strong_actor_ptr>(to_self))
      caf::anon_send(caf::actor_cast<inner_models_actor>(models), row, port);
  };
  model_subtree subtree = make_model_subtree(self_->system(), core, config_.threads, on_port);
  supervisor_options options{
      .name = "model/" + message.id, .limits = config_.limits, .on_started = std::move(subtree.on_started)};
  r.supervisor = self_->system().spawn(supervise, std::move(subtree.rows), std::move(options));
  self_->link_to(r.supervisor);
  models_[message.id] = std::move(r);
}

void models_state::ended(const caf::exit_msg& exit) {
  const auto at = std::ranges::find_if(models_, [&](const auto& entry) {
    return entry.second.supervisor && entry.second.supervisor.address() == exit.source;
  });
  if (at == models_.end()) {
    for (auto& [id, model] : models_) exit_now(model.supervisor, caf::exit_reason::user_shutdown);
    return self_->quit(exit.reason);
  }
  running& model = at->second;
  model.ended = true;
  model.supervisor = nullptr;
  model.port = nullptr;
  if (exit.reason && exit.reason != caf::exit_reason::user_shutdown) model.why = describe(exit.reason);
  report_when_credited(at->first);
}

void models_state::report_when_credited(const std::string& id) {
  const auto at = models_.find(id);
  if (at == models_.end() || !at->second.ended) return;
  if (!at->second.core.expired()) {
    self_->delayed_send(self_, credit_interval, msg::check_credited{id, at->second.row.generation});
    return;
  }
  const running gone = std::move(at->second);
  models_.erase(at);
  if (gone.next) return start(gone.next->first, gone.next->second, sink_);
  if (sink_) self_->send(sink_, msg::model_down{gone.row.generation, gone.row.id, gone.why});
}

inner_models_actor::behavior_type models_state::make(models_config config) {
  config_ = std::move(config);
  self_->set_exception_handler(crash_handler(name));
  self_->set_exit_handler([this](caf::exit_msg& exit) { ended(exit); });
  return {
      [this](const msg::start_model& message, const msg::model_handle& handle, const models_sink& sink) {
        start(message, handle, sink);
      },
      [this](const msg::stop_model& message) {
        const auto at = models_.find(message.id);
        if (at == models_.end()) return;
        if (at->second.next && at->second.next->first.generation == message.generation) {
          // It has not begun: the one before it is gone soon, and then this one is, too.
          at->second.row.generation = message.generation;
          at->second.next.reset();
        }
        if (at->second.row.generation == message.generation && at->second.supervisor)
          exit_now(at->second.supervisor, caf::exit_reason::user_shutdown);
      },
      [this](const msg::who_runs&, const models_sink& sink) {
        sink_ = sink;
        for (const auto& [id, model] : models_) {
          if (model.port) self_->send(sink, model.row, model.port, msg::model_watch{model.core});
        }
      },
      [this](const msg::model_started& message, const port_actor& port) {
        const auto at = models_.find(message.id);
        if (at == models_.end() || at->second.row.generation != message.generation || at->second.ended) return;
        at->second.port = port;
        if (sink_) self_->send(sink_, message, port, msg::model_watch{at->second.core});
      },
      [this](const msg::check_credited& message) { report_when_credited(message.id); },
  };
}

inner_models_actor::behavior_type run_models(inner_models_actor::stateful_pointer<models_state> self,
                                             models_config config) {
  static_assert(!std::is_aggregate_v<models_state>);
  return self->state.make(std::move(config));
}

}  // namespace infer::actors
