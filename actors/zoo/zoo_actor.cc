// The zoo's behaviour.
#include "actors/zoo/zoo_actor.h"

#include <algorithm>
#include <caf/all.hpp>

#include "actors/model/model_core.h"
#include "actors/support/error_bridge.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

msg::model_work work_of(const core_counters& c) {
  return {c.prompt_tokens, c.cached_tokens, c.tokens_made,     c.steps,      c.layers_run, c.rows_cancelled,
          c.parkings,      c.streams_open,  c.streams_waiting, c.pages_free, c.pages_total};
}

std::vector<msg::slot_row> busy_slots(const model_core& core) {
  std::vector<msg::slot_row> out;
  for (const slot_counters& slot : core.slots) {
    if (slot.busy) out.push_back({slot.request_id, slot.choice, slot.prompt, slot.held, slot.made});
  }
  return out;
}

msg::model_facts facts_of(const model_core& core) {
  const tokenize::tokenizer& vocabulary = *core.tokenizer;
  const auto text_of = [&](std::optional<token_id> id) { return id ? std::string(vocabulary.bytes_of(*id)) : ""; };
  msg::model_facts out;
  out.slots = core.source.slots;
  out.vocabulary = static_cast<std::uint32_t>(vocabulary.size());
  out.template_text = core.template_text;
  out.bos_text = text_of(vocabulary.bos());
  out.eos_text = text_of(vocabulary.eos());
  return out;
}

}  // namespace

zoo_time zoo_actor_state::now() const {
  return self_->clock().now();
}

zoo_actor_state::zoo_actor_state(inner_zoo_actor::pointer self) : self_(self) {}

template <class Interface>
Interface zoo_actor_state::myself() const {
  return caf::actor_cast<Interface>(caf::strong_actor_ptr(self_->ctrl()));
}

void zoo_actor_state::measure(const msg::measure_model& message) {
  self_->send(config_.loader, message, myself<loader_sink>());
}
void zoo_actor_state::claim(const msg::claim_memory& message) {
  self_->send(config_.ledger, message, myself<claimant>());
}
void zoo_actor_state::cancel_claim(const msg::cancel_claim& message) {
  self_->send(config_.ledger, message);
}
void zoo_actor_state::load(const msg::load_weights& message) {
  self_->send(config_.loader, message, myself<loader_sink>());
}
void zoo_actor_state::cancel_load(const msg::cancel_load& message) {
  self_->send(config_.loader, message);
}
void zoo_actor_state::stop(const msg::stop_model& message) {
  self_->send(config_.models_supervisor, message);
}

void zoo_actor_state::start(const msg::start_model& message) {
  self_->send(config_.models_supervisor, message, std::exchange(arriving_, {}), myself<models_sink>());
}

void zoo_actor_state::grant(const msg::lease_granted& message) {
  const auto who = requests_.find(message.request_id);
  const auto port = ports_.find(message.model);
  if (who != requests_.end() && port != ports_.end()) self_->send(who->second, message, port->second);
}

void zoo_actor_state::wait(const msg::lease_waiting& message) {
  if (const auto who = requests_.find(message.request_id); who != requests_.end()) self_->send(who->second, message);
}

void zoo_actor_state::refuse(const msg::lease_refused& message) {
  if (const auto who = requests_.find(message.request_id); who != requests_.end()) self_->send(who->second, message);
}

void zoo_actor_state::changed(const msg::model_changed& message) {
  const auto who = admins_.find(message.request_id);
  if (who == admins_.end()) return;
  self_->send(who->second, message);
  admins_.erase(who);
}

std::vector<msg::model_row> zoo_actor_state::rows() const {
  auto out = state_->rows();
  for (msg::model_row& row : out) {
    const auto at = running_.find(row.id);
    if (at == running_.end()) continue;
    if (const auto core = at->second.lock()) {
      row.work = work_of(core->counters);
      row.facts = facts_of(*core);
      row.busy = busy_slots(*core);
    }
  }
  return out;
}

void zoo_actor_state::know(std::uint64_t request_id, const lease_sink& who) {
  if (requests_.insert_or_assign(request_id, who).second) self_->monitor(who);
}

void zoo_actor_state::after_event() {
  const auto due = state_->tick(now());
  if (!due || (timer_due_ && *timer_due_ <= *due)) return;
  timer_due_ = due;
  const auto delay = std::max(zoo_time::duration::zero(), *due - now()) + std::chrono::milliseconds(1);
  self_->delayed_send(self_, std::chrono::duration_cast<std::chrono::milliseconds>(delay), msg::zoo_tick{++timer_});
}

inner_zoo_actor::behavior_type zoo_actor_state::make(zoo_config config) {
  config_ = std::move(config);
  state_.emplace(config_.models, config_.epoch, *this);
  self_->set_exception_handler(crash_handler(name));
  self_->set_down_handler([this](caf::down_msg& down) {
    // A lease on a dead port would come straight back.
    const auto port =
        std::ranges::find_if(ports_, [&](const auto& entry) { return entry.second.address() == down.source; });
    if (port != ports_.end()) {
      state_->port_lost(port->first);
      ports_.erase(port);
      return;
    }
    const auto at =
        std::ranges::find_if(requests_, [&](const auto& entry) { return entry.second.address() == down.source; });
    if (at == requests_.end()) return;
    const std::uint64_t request_id = at->first;
    requests_.erase(at);
    state_->holder_down(request_id, now());
    after_event();
  });
  if (config_.requests) {
    self_->send(config_.models_supervisor, msg::who_runs{config_.epoch}, myself<models_sink>());
    self_->send(config_.requests, msg::who_holds{config_.epoch});
  }
  return {
      [this](const msg::acquire& message, const lease_sink& who) {
        know(message.request_id, who);
        state_->acquire(message, now());
        after_event();
      },
      [this](const msg::release& message) {
        state_->release(message, now());
        after_event();
      },
      [this](const msg::announce& message, const lease_sink& who, const port_actor&) {
        know(message.request_id, who);
        state_->announce(message);
      },
      [this](const msg::list_models& message, const admin_sink& who) {
        self_->send(who, msg::model_list{message.request_id, rows()});
      },
      [this](const msg::load_model& message, const admin_sink& who) {
        admins_[message.request_id] = who;
        state_->load(message, now());
        after_event();
      },
      [this](const msg::unload_model& message, const admin_sink& who) {
        admins_[message.request_id] = who;
        state_->unload(message, now());
        after_event();
      },
      [this](const msg::claim_granted& message) { state_->claim_granted(message); },
      [this](const msg::claim_waiting& message) { state_->claim_waiting(message); },
      [this](const msg::claim_refused& message) {
        state_->claim_refused(message, now());
        after_event();
      },
      [this](const msg::load_progress& message) { state_->progress(message); },
      [this](const msg::model_measured& message) { state_->measured(message, now()); },
      [this](const msg::model_loaded& message, const msg::model_handle& handle) {
        arriving_ = handle;
        state_->loaded(message, now());
        arriving_ = {};
      },
      [this](const msg::load_failed& message) {
        state_->load_failed(message, now());
        after_event();
      },
      [this](const msg::model_started& message, const port_actor& port, const msg::model_watch& watch) {
        ports_[message.id] = port;
        self_->monitor(port);
        running_[message.id] = watch.core;
        state_->started(message, now());
        after_event();
      },
      [this](const msg::model_down& message) {
        ports_.erase(message.id);
        running_.erase(message.id);
        state_->down(message, now());
        after_event();
      },
      [this](const msg::zoo_tick& message) {
        if (message.number != timer_) return;
        timer_due_.reset();
        after_event();
      },
  };
}

inner_zoo_actor::behavior_type run_zoo(inner_zoo_actor::stateful_pointer<zoo_actor_state> self, zoo_config config) {
  static_assert(!std::is_aggregate_v<zoo_actor_state>);
  return self->state.make(std::move(config));
}

}  // namespace infer::actors
