// One request from lease to last token. All its choices and their logs live here; everything a client sees is derived
// from the logs. No actor in here: what it wants done goes through `request_output`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/requests/choice_text.h"
#include "protocol/messages/leases.h"
#include "protocol/messages/requests.h"
#include "protocol/messages/streams.h"

namespace infer::actors {

/// What a request does to the world. `emit` goes to the sink, the rest to zoo and port.
struct request_output {
  virtual ~request_output() = default;
  virtual void acquire(const msg::acquire& message) = 0;
  virtual void release(const msg::release& message) = 0;
  virtual void encode(const msg::encode_prompt& message) = 0;
  virtual void decode_ids(const msg::decode_ids& message) = 0;
  virtual void open(const msg::open_stream& message) = 0;
  virtual void grant(const msg::grant& message) = 0;
  virtual void close(const msg::close_stream& message) = 0;
  virtual void emit(const msg::request_waiting& event) = 0;
  virtual void emit(const msg::request_started& event) = 0;
  virtual void emit(const msg::text_made& event) = 0;
  virtual void emit(const msg::choice_finished& event) = 0;
  virtual void emit(const msg::request_finished& event) = 0;
  virtual void emit(const msg::request_failed& event) = 0;
  virtual void emit(const msg::text_transformed& event) = 0;
  /// Nothing more will happen.
  virtual void done() = 0;
};

using now_fn = std::function<std::chrono::steady_clock::time_point()>;

/// Threads: one.
class request_state {
 public:
  /// `seed` is used where the request brought none.
  request_state(msg::generate request, std::uint64_t seed, request_output& out, now_fn now);

  void start();

  /// Whether a grant would be taken; else it is given back.
  bool waits_for_lease() const { return phase_ == phase::leasing; }
  void granted(const msg::lease_granted& message);
  void waiting(const msg::lease_waiting& message);
  void refused(const msg::lease_refused& message);
  /// A new zoo asks who holds what: true where this request holds a lease and is to announce it; a request that still
  /// waits for its lease asks again.
  bool zoo_restarted(msg::announce& message);

  void encoded(const msg::prompt_encoded& message);
  void encode_refused(const msg::prompt_refused& message);
  void decoded(const msg::ids_decoded& message);

  void opened(const msg::stream_opened& message);
  void open_refused(const msg::stream_refused& message);
  void made(const msg::tokens_made& message);
  void lost(const msg::stream_lost& message);
  void port_down();

  void taken(const msg::taken& message);
  /// The client is gone or no longer interested.
  void cancel();

  bool finished() const { return phase_ == phase::over; }

 private:
  enum class phase : std::uint8_t { leasing, encoding, streaming, over };

  /// A prompt after it was encoded.
  struct encoded_prompt {
    std::vector<std::int32_t> ids;
    std::string text;                      // where it is echoed
    std::vector<msg::text_token> scored;   // where its log-probabilities are: once they have come
    std::vector<msg::f32_bits> embedding;  // likewise
    std::uint32_t max_tokens = 0, cached = 0;
    bool opens_reasoning = false;
  };

  struct choice {
    explicit choice(std::span<const std::string> stop) : text(stop) {}
    std::vector<std::int32_t> log;
    msg::f32_bits sampler_state;  // of the log's last token
    choice_text text;
    std::uint32_t attempt = 0;
    std::uint64_t epoch = 0;
    std::uint32_t upto = 0;   // credit given
    std::uint32_t shown = 0;  // tokens covered by events
    std::uint32_t taken = 0;  // tokens the sink has reported
    bool echoed = false, complete = false;
  };

  msg::stream_key key_of(std::uint32_t index) const { return {request_.request_id, generation_, index}; }
  choice* find(const msg::stream_key& key);
  const msg::prompt& asked(std::size_t prompt) const;
  std::string name_of(std::size_t prompt) const;
  std::uint32_t first_of(std::size_t prompt) const { return static_cast<std::uint32_t>(prompt) * request_.choices; }
  encoded_prompt& prompt_of(std::uint32_t choice) { return prompts_[choice / request_.choices]; }
  /// Nothing has to be computed for it any more.
  bool is_empty(std::uint32_t choice);
  /// Whether the log-probabilities of the choice's prompt are wanted and have not come.
  bool lacks_scores(std::uint32_t choice);
  bool scores() const { return request_.echo && request_.logprobs; }
  bool embeds() const { return request_.task == msg::request_task::embed; }
  void encode_next();
  void start_choices();
  void finish_empty();
  void reopen();
  void open_more();
  void open(std::uint32_t index);
  void echo(std::uint32_t index);
  std::uint64_t echo_bytes() const;
  void take_prompt(std::uint32_t index, const msg::tokens_made& message);
  void begin();
  void accept(std::uint32_t index, const msg::token& token, msg::stream_end end);
  void show(std::uint32_t index, text_step step);
  void finish(std::uint32_t index, msg::finish_reason reason, std::string stop_text);
  void give_credit(std::uint32_t index);
  void finish_if_complete();
  void finish_embedding();
  std::uint32_t cached_tokens() const;
  void fail(msg::refusal code, std::string message, std::string param = {}, std::uint32_t retry_after_ms = 0);
  void leave();

  msg::generate request_;
  request_output& out_;
  now_fn now_;
  phase phase_ = phase::leasing;
  std::uint64_t lease_id_ = 0;
  std::uint32_t generation_ = 0;
  std::string model_;
  std::vector<encoded_prompt> prompts_;
  std::uint32_t prompt_tokens_ = 0;
  bool encoded_ = false, started_ = false;
  std::vector<choice> choices_;
  std::chrono::steady_clock::time_point opened_at_, first_token_at_;
};

}  // namespace infer::actors
