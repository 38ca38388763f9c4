// The state machine of every model (design §4.3): who waits, who holds, what is loading. Pure: what it wants done goes
// through `zoo_output`, time comes in. Victims, swaps and configuration reload are not here yet.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/leases.h"
#include "protocol/messages/loading.h"
#include "protocol/messages/memory.h"
#include "protocol/messages/models.h"

namespace infer::actors {

using zoo_time = std::chrono::steady_clock::time_point;

/// As an alias: the model answers to names that nobody has. Tools send those of models elsewhere.
inline constexpr const char* any_name = "*";

/// A model that this program may load.
struct zoo_model {
  msg::model_source source;
  std::vector<std::string> aliases;
  std::uint64_t created = 0;                            // when its file was made, seconds since 1970
  std::optional<std::chrono::milliseconds> keep_alive;  // unload after so long without a lease; absent: never
};

struct zoo_output {
  virtual ~zoo_output() = default;
  virtual void measure(const msg::measure_model& message) = 0;
  virtual void claim(const msg::claim_memory& message) = 0;
  virtual void cancel_claim(const msg::cancel_claim& message) = 0;
  virtual void load(const msg::load_weights& message) = 0;
  virtual void cancel_load(const msg::cancel_load& message) = 0;
  virtual void start(const msg::start_model& message) = 0;
  virtual void stop(const msg::stop_model& message) = 0;
  virtual void grant(const msg::lease_granted& message) = 0;
  virtual void wait(const msg::lease_waiting& message) = 0;
  virtual void refuse(const msg::lease_refused& message) = 0;
  virtual void changed(const msg::model_changed& message) = 0;
};

/// Threads: one.
class zoo_state {
 public:
  zoo_state(std::vector<zoo_model> models, std::uint64_t epoch, zoo_output& out);

  // from requests
  void acquire(const msg::acquire& message, zoo_time now);
  void release(const msg::release& message, zoo_time now);
  void announce(const msg::announce& message);
  void holder_down(std::uint64_t request_id, zoo_time now);

  // from administrators
  std::vector<msg::model_row> rows() const;
  void load(const msg::load_model& message, zoo_time now);
  void unload(const msg::unload_model& message, zoo_time now);

  // from ledger, loader and models; what carries an older generation is dropped
  void measured(const msg::model_measured& message, zoo_time now);
  void claim_granted(const msg::claim_granted& message);
  void claim_waiting(const msg::claim_waiting& message);
  void claim_refused(const msg::claim_refused& message, zoo_time now);
  void progress(const msg::load_progress& message);
  /// True where the handle that came along is wanted: `start` follows at once.
  bool loaded(const msg::model_loaded& message, zoo_time now);
  void load_failed(const msg::load_failed& message, zoo_time now);
  /// Also adopts a model that runs already when this zoo is new.
  void started(const msg::model_started& message, zoo_time now);
  /// The model's port has died; until `started` comes again who asks has to wait.
  void port_lost(const std::string& id);
  void down(const msg::model_down& message, zoo_time now);

  /// Does what is due and says when the next thing is.
  std::optional<zoo_time> tick(zoo_time now);

 private:
  struct waiter {
    std::uint64_t request_id = 0;
    zoo_time deadline = zoo_time::max();
  };
  struct entry {
    zoo_model config;
    msg::model_state state = msg::model_state::absent;
    std::uint32_t generation = 0;
    std::uint64_t claim_id = 0;
    bool claimed = false;
    bool has_port = false;
    std::deque<waiter> waiters;
    std::map<std::uint64_t, std::uint64_t> leases;          // lease → request
    std::vector<std::uint64_t> load_orders, unload_orders;  // request ids of administrators
    bool unloading = false;
    bool repeated = false;  // a retryable failure has been repeated once
    std::uint32_t percent = 0, failures = 0, context = 0, trained_context = 0;
    std::uint64_t bytes = 0;
    std::string reason;
    zoo_time until{}, idle_since{}, ready_since{}, closing_until{};
  };

  entry* find(const std::string& model);
  entry* by_generation(const std::string& id, std::uint32_t generation);
  entry* by_claim(std::uint64_t claim_id);
  void begin(entry& e);
  void enqueue(entry& e, const msg::acquire& message, zoo_time now);
  void grant(entry& e, std::uint64_t request_id);
  void grant_waiters(entry& e);
  void refuse(std::uint64_t request_id, msg::refusal code, std::string message, std::uint32_t retry_after_ms = 0);
  void refuse_waiters(entry& e, msg::refusal code, const std::string& message, std::uint32_t retry_after_ms = 0);
  void fail(entry& e, std::string reason, zoo_time now, bool permanent);
  void cancel(entry& e);
  void close(entry& e, zoo_time now);
  void drain(entry& e);
  bool adopt(entry& e, std::uint32_t generation);
  void now_absent(entry& e);
  void lease_ended(entry& e, zoo_time now);
  void answer(std::vector<std::uint64_t>& orders, const entry& e, bool done, const std::string& message);
  void tell_waiters(entry& e, const std::string& reason);
  msg::model_row row(const entry& e) const;

  std::vector<entry> entries_;
  std::uint64_t epoch_;
  std::uint32_t next_generation_;
  std::uint64_t next_lease_, next_claim_;
  zoo_output& out_;
};

}  // namespace infer::actors
