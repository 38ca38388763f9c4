// The table of design §4.3.
#include "actors/zoo/zoo_state.h"

#include <algorithm>
#include <utility>

namespace infer::actors {
namespace {

using state = msg::model_state;

constexpr int epoch_shift = 16;  // generations below are those of earlier zoos
constexpr std::chrono::seconds first_back_off{1};
constexpr std::chrono::minutes longest_back_off{5};
constexpr std::chrono::seconds close_deadline{60};

}  // namespace

zoo_state::zoo_state(std::vector<zoo_model> models, std::uint64_t epoch, zoo_output& out)
    : epoch_(epoch),
      next_generation_(static_cast<std::uint32_t>(epoch << epoch_shift)),
      next_lease_(epoch << 32),
      next_claim_(epoch << 32),
      out_(out) {
  for (zoo_model& model : models) entries_.push_back({.config = std::move(model)});
}

zoo_state::entry* zoo_state::find(const std::string& model) {
  if (model.empty()) return entries_.empty() ? nullptr : &entries_.front();
  for (entry& e : entries_)
    if (e.config.source.id == model) return &e;
  for (entry& e : entries_)
    if (std::ranges::find(e.config.aliases, model) != e.config.aliases.end()) return &e;
  return nullptr;
}

zoo_state::entry* zoo_state::by_generation(const std::string& id, std::uint32_t generation) {
  for (entry& e : entries_) {
    if (e.config.source.id == id && e.generation == generation && e.state != state::absent) return &e;
  }
  return nullptr;
}

zoo_state::entry* zoo_state::by_claim(std::uint64_t claim_id) {
  for (entry& e : entries_) {
    if (e.state == state::claiming && e.claim_id == claim_id) return &e;
  }
  return nullptr;
}

void zoo_state::acquire(const msg::acquire& message, zoo_time now) {
  entry* e = find(message.model);
  if (e == nullptr) e = find(any_name);
  if (e == nullptr) {
    const std::string why = message.model.empty() ? "no model is configured; start the server with -m MODEL"
                                                  : "the model '" + message.model + "' does not exist";
    return refuse(message.request_id, msg::refusal::model_not_found, why);
  }
  switch (e->state) {
    case state::ready:
      if (e->has_port) return grant(*e, message.request_id);
      return enqueue(*e, message, now);
    case state::failed:
      if (now < e->until) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(e->until - now).count();
        return refuse(message.request_id, msg::refusal::model_failed, e->reason,
                      e->until == zoo_time::max() ? 0 : static_cast<std::uint32_t>(left));
      }
      e->state = state::absent;
      [[fallthrough]];
    case state::absent:
      enqueue(*e, message, now);
      return begin(*e);
    case state::closing:
    case state::draining:
      if (e->unloading)
        return refuse(message.request_id, msg::refusal::model_loading, "the model is being unloaded", 1000);
      [[fallthrough]];
    case state::claiming:
    case state::loading:
    case state::cancelling:
      return enqueue(*e, message, now);
  }
}

void zoo_state::enqueue(entry& e, const msg::acquire& message, zoo_time now) {
  waiter w{message.request_id, zoo_time::max()};
  if (message.deadline_ms != msg::no_limit) w.deadline = now + std::chrono::milliseconds(message.deadline_ms);
  std::erase_if(e.waiters, [&](const waiter& other) { return other.request_id == w.request_id; });
  e.waiters.push_back(w);
  out_.wait({message.request_id, "the model is loading", e.percent});
}

void zoo_state::begin(entry& e) {
  e.state = state::claiming;
  e.generation = ++next_generation_;
  e.claim_id = ++next_claim_;
  e.claimed = false;
  e.has_port = false;
  e.percent = 0;
  e.reason.clear();
  out_.measure({e.generation, e.config.source});
}

void zoo_state::grant(entry& e, std::uint64_t request_id) {
  const std::uint64_t lease_id = ++next_lease_;
  e.leases[lease_id] = request_id;
  out_.grant({request_id, lease_id, epoch_, e.generation, e.config.source.id});
}

void zoo_state::grant_waiters(entry& e) {
  for (const waiter& w : std::exchange(e.waiters, {})) grant(e, w.request_id);
}

void zoo_state::refuse(std::uint64_t request_id, msg::refusal code, std::string message, std::uint32_t retry_after_ms) {
  out_.refuse({request_id, code, std::move(message), retry_after_ms});
}

void zoo_state::refuse_waiters(entry& e, msg::refusal code, const std::string& message, std::uint32_t retry_after_ms) {
  for (const waiter& w : std::exchange(e.waiters, {})) refuse(w.request_id, code, message, retry_after_ms);
}

void zoo_state::release(const msg::release& message, zoo_time now) {
  for (entry& e : entries_) {
    if (e.leases.erase(message.lease_id) != 0) return lease_ended(e, now);
  }
}

void zoo_state::announce(const msg::announce& message) {
  entry* e = find(message.model);
  // The model may be adopted after this; the lease counts for it either way.
  if (e != nullptr) e->leases[message.lease_id] = message.request_id;
}

void zoo_state::holder_down(std::uint64_t request_id, zoo_time now) {
  for (entry& e : entries_) {
    std::erase_if(e.waiters, [&](const waiter& w) { return w.request_id == request_id; });
    const auto held = std::erase_if(e.leases, [&](const auto& lease) { return lease.second == request_id; });
    if (held != 0) lease_ended(e, now);
    if (e.waiters.empty() && e.load_orders.empty() && (e.state == state::claiming || e.state == state::loading))
      cancel(e);
  }
}

void zoo_state::lease_ended(entry& e, zoo_time now) {
  if (!e.leases.empty()) return;
  if (e.state == state::closing) drain(e);
  if (e.state == state::ready) e.idle_since = now;
}

void zoo_state::cancel(entry& e) {
  if (e.state == state::claiming) {
    if (e.claimed) out_.cancel_claim({e.claim_id});
    return now_absent(e);
  }
  e.state = state::cancelling;
  out_.cancel_load({e.generation, e.config.source.id});
}

void zoo_state::now_absent(entry& e) {
  e.state = state::absent;
  e.has_port = false;
  e.unloading = false;
  e.percent = 0;
  e.bytes = 0;
  e.context = 0;
  e.leases.clear();
  answer(e.unload_orders, e, true, {});
  if (!e.waiters.empty() || !e.load_orders.empty()) begin(e);
}

void zoo_state::fail(entry& e, std::string reason, zoo_time now, bool permanent) {
  e.state = state::failed;
  e.has_port = false;
  e.bytes = 0;
  e.reason = std::move(reason);
  const auto delay =
      std::min<std::chrono::milliseconds>(first_back_off * (1u << std::min(e.failures, 10u)), longest_back_off);
  ++e.failures;
  e.until = permanent ? zoo_time::max() : now + delay;
  e.leases.clear();
  refuse_waiters(
      e, msg::refusal::model_failed, e.reason,
      permanent ? 0 : static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(delay).count()));
  answer(e.load_orders, e, false, e.reason);
  answer(e.unload_orders, e, true, {});
}

std::vector<msg::model_row> zoo_state::rows() const {
  std::vector<msg::model_row> out;
  for (const entry& e : entries_) out.push_back(row(e));
  return out;
}

msg::model_row zoo_state::row(const entry& e) const {
  msg::model_row r;
  r.id = e.config.source.id;
  r.aliases = e.config.aliases;
  r.path = e.config.source.path;
  r.state = e.state;
  r.percent = e.percent;
  r.leases = static_cast<std::uint32_t>(e.leases.size());
  r.waiters = static_cast<std::uint32_t>(e.waiters.size());
  r.context = e.context;
  r.trained_context = e.trained_context;
  r.bytes = e.bytes;
  r.created = e.config.created;
  r.detail = e.reason;
  return r;
}

void zoo_state::answer(std::vector<std::uint64_t>& orders, const entry& e, bool done, const std::string& message) {
  for (const std::uint64_t request_id : std::exchange(orders, {})) out_.changed({request_id, done, row(e), message});
}

void zoo_state::load(const msg::load_model& message, zoo_time now) {
  entry* e = find(message.model);
  if (e == nullptr)
    return out_.changed({message.request_id, false, {}, "the model '" + message.model + "' does not exist"});
  e->load_orders.push_back(message.request_id);
  switch (e->state) {
    case state::ready:
      return answer(e->load_orders, *e, true, {});
    case state::failed:  // an order overrides the back-off
    case state::absent:
      return begin(*e);
    case state::closing:
      // Nothing has been torn down yet: stay.
      answer(e->unload_orders, *e, false, "the model was loaded again meanwhile");
      e->unloading = false;
      e->state = state::ready;
      if (e->leases.empty()) e->idle_since = now;
      grant_waiters(*e);
      return answer(e->load_orders, *e, true, {});
    default:
      return;
  }
}

void zoo_state::unload(const msg::unload_model& message, zoo_time now) {
  entry* e = find(message.model);
  if (e == nullptr)
    return out_.changed({message.request_id, false, {}, "the model '" + message.model + "' does not exist"});
  e->unload_orders.push_back(message.request_id);
  answer(e->load_orders, *e, false, "the model was unloaded meanwhile");
  switch (e->state) {
    case state::ready:
      e->unloading = true;
      return close(*e, now);
    case state::claiming:
    case state::loading:
      refuse_waiters(*e, msg::refusal::model_loading, "the model is being unloaded", 1000);
      return cancel(*e);
    case state::failed:
    case state::absent:
      return answer(e->unload_orders, *e, true, {});
    default:
      e->unloading = true;
      return;
  }
}

void zoo_state::close(entry& e, zoo_time now) {
  e.state = state::closing;
  e.closing_until = now + close_deadline;
  refuse_waiters(e, msg::refusal::model_loading, "the model is being unloaded", 1000);
  if (e.leases.empty()) drain(e);
}

void zoo_state::drain(entry& e) {
  e.state = state::draining;
  out_.stop({e.generation, e.config.source.id});
}

void zoo_state::measured(const msg::model_measured& message, zoo_time) {
  entry* e = by_generation(message.id, message.generation);
  if (e == nullptr || e->state != state::claiming) return;
  e->trained_context = message.trained_context;
  e->bytes = message.floor_bytes;
  e->claimed = true;
  out_.claim({e->claim_id, message.floor_bytes});
}

void zoo_state::claim_granted(const msg::claim_granted& message) {
  entry* e = by_claim(message.claim_id);
  if (e == nullptr) return out_.cancel_claim({message.claim_id});
  e->state = state::loading;
  e->reason.clear();
  out_.load({e->generation, e->claim_id, e->config.source});
}

void zoo_state::tell_waiters(entry& e, const std::string& reason) {
  for (const waiter& w : e.waiters) out_.wait({w.request_id, reason, e.percent});
}

void zoo_state::claim_waiting(const msg::claim_waiting& message) {
  entry* e = by_claim(message.claim_id);
  if (e == nullptr) return;
  e->reason = "the model waits for memory: " + std::to_string((message.missing + (1 << 20) - 1) >> 20) +
              " MiB more have to become free";
  tell_waiters(*e, e->reason);
}

void zoo_state::claim_refused(const msg::claim_refused& message, zoo_time now) {
  if (entry* e = by_claim(message.claim_id)) fail(*e, "the model cannot be loaded: " + message.message, now, false);
}

void zoo_state::progress(const msg::load_progress& message) {
  entry* e = by_generation(message.id, message.generation);
  if (e == nullptr || e->state != state::loading) return;
  e->percent = message.percent;
  tell_waiters(*e, "the model is loading");
}

bool zoo_state::loaded(const msg::model_loaded& message, zoo_time) {
  entry* e = by_generation(message.id, message.generation);
  if (e == nullptr) return false;
  if (e->state == state::cancelling) {
    // It was ready before it heard of the cancel; the handle is dropped here.
    now_absent(*e);
    return false;
  }
  if (e->state != state::loading) return false;
  e->percent = 100;
  e->bytes = message.bytes;
  e->context = message.context;
  e->trained_context = message.trained_context;
  out_.start({e->generation, message.id});
  return true;
}

void zoo_state::load_failed(const msg::load_failed& message, zoo_time now) {
  entry* e = by_generation(message.id, message.generation);
  if (e == nullptr) return;
  if (e->state == state::cancelling) return now_absent(*e);
  if (e->state != state::loading && e->state != state::claiming) return;
  if (e->claimed) out_.cancel_claim({e->claim_id});
  if (message.retryable && !e->repeated) {
    e->repeated = true;
    return begin(*e);
  }
  e->repeated = false;
  fail(*e, "the model cannot be loaded: " + message.message, now, false);
}

void zoo_state::started(const msg::model_started& message, zoo_time now) {
  entry* e = find(message.id);
  if (e == nullptr) return;
  if (e->generation != message.generation) {
    if (!adopt(*e, message.generation)) return;
  } else if (e->state == state::cancelling) {
    return drain(*e);  // it was on its way when the last who wanted it left
  } else if (e->state != state::loading && e->state != state::ready) {
    return;
  }
  const bool first = e->state != state::ready;
  e->state = state::ready;
  e->has_port = true;
  e->percent = 100;
  e->bytes = message.bytes;
  e->context = message.context;
  e->trained_context = message.trained_context;
  e->repeated = false;
  if (first) {
    e->idle_since = e->ready_since = now;
    e->reason.clear();
  }
  grant_waiters(*e);
  answer(e->load_orders, *e, true, {});
}

/// Takes over a model that ran before this zoo did, in place of a copy that is not there yet; or that copy, where it
/// has taken the place of the older one. False where it is neither.
bool zoo_state::adopt(entry& e, std::uint32_t generation) {
  const auto is_older = [&](std::uint32_t of) { return of >> epoch_shift < epoch_; };
  if (e.state == state::ready && is_older(e.generation) && !is_older(generation)) {
    e.generation = generation;
    return true;
  }
  if (!is_older(generation) || e.state == state::ready || e.state == state::closing || e.state == state::draining)
    return false;
  if (e.state == state::claiming && e.claimed) out_.cancel_claim({e.claim_id});
  if (e.state == state::loading) out_.cancel_load({e.generation, e.config.source.id});
  e.generation = generation;
  e.state = state::loading;
  return true;
}

void zoo_state::port_lost(const std::string& id) {
  if (entry* e = find(id)) e->has_port = false;
}

void zoo_state::down(const msg::model_down& message, zoo_time now) {
  entry* e = by_generation(message.id, message.generation);
  if (e == nullptr) return;
  if (message.message.empty() || e->state == state::draining) return now_absent(*e);
  if (now - e->ready_since > longest_back_off) e->failures = 0;
  fail(*e, "the model crashed: " + message.message, now, false);
}

std::optional<zoo_time> zoo_state::tick(zoo_time now) {
  zoo_time next = zoo_time::max();
  for (entry& e : entries_) {
    for (std::size_t i = 0; i < e.waiters.size();) {
      const waiter w = e.waiters[i];
      if (w.deadline > now) {
        next = std::min(next, w.deadline);
        ++i;
        continue;
      }
      e.waiters.erase(e.waiters.begin() + static_cast<std::ptrdiff_t>(i));
      refuse(w.request_id, msg::refusal::deadline_exceeded, "the model was not ready before the request's deadline",
             1000);
    }
    if (e.state == state::ready && e.leases.empty() && e.config.keep_alive) {
      const zoo_time end = e.idle_since + *e.config.keep_alive;
      if (end <= now)
        drain(e);
      else
        next = std::min(next, end);
    }
    if (e.state == state::closing) {
      if (e.closing_until <= now)
        drain(e);
      else
        next = std::min(next, e.closing_until);
    }
  }
  if (next == zoo_time::max()) return std::nullopt;
  return next;
}

}  // namespace infer::actors
