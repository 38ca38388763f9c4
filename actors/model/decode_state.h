// The running batch of one model: which streams are in it, what the next step computes, what it yields. No actor in
// here: the behaviour is in decode_actor.cc.
//
//   waiting ──admit──► running (prefill, then decode) ──► ended
//      ▲                  │ the pool is dry
//      └───── parked ◄────┘
#pragma once

#include <algorithm>
#include <bitset>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/model/model_core.h"
#include "actors/model/prefill_pace.h"
#include "actors/model/prompt_results.h"
#include "actors/model/state_pages.h"
#include "engine/decode/sampler.h"
#include "protocol/messages/streams.h"
#include "protocol/messages/subtree.h"

namespace infer::actors {

/// What leaves the batch: that a stream was admitted, its tokens, or a refusal.
struct batch_output {
  virtual ~batch_output() = default;
  virtual void opened(msg::stream_opened opened) = 0;
  virtual void made(msg::raw_tokens tokens) = 0;
  virtual void refused(msg::stream_refused refusal) = 0;
};

using batch_time = std::chrono::steady_clock::time_point;
using batch_clock = std::function<batch_time()>;

/// Streams are admitted in order of arrival, each when there are pages for what it has to be fed; one whose prompt
/// another is computing waits and then shares. Prompts are fed in chunks beside the decode rows of others, cut to a
/// time where somebody waits for the next token. Where the pool runs dry the youngest stream of the lowest priority
/// gives its pages back and waits again where it was; the senior, the oldest one running, never does, and a pool holds
/// at least one context: somebody always goes on.
/// Threads: one. Memory: sequences live here and go back to the pool with this object.
class running_batch {
 public:
  running_batch(std::shared_ptr<model_core> core, std::uint64_t epoch, batch_output& out,
                batch_clock now = std::chrono::steady_clock::now);

  /// Idempotent for (key, attempt); a higher attempt replaces the stream.
  void open(const msg::open_stream& message, std::uint32_t flag);
  void grant(const msg::grant& message);
  /// Ends the stream, or one that was cancelled before: what it computed is kept for others, but for what lies beyond
  /// the accepted tokens.
  void close(const msg::close_stream& message);

  /// Drops cancelled streams, admits who may run, and answers whether a step would compute something.
  bool has_work();
  /// When there may be work again although no message came: a parked stream may run again. That may have passed since
  /// has_work() looked.
  std::optional<batch_time> due() const;
  /// Computes one step. Throws what hooks throw and where the executor refuses: that is a crash.
  void step();

 private:
  struct stream {
    msg::stream_key key;
    std::uint32_t attempt = 0, flag = 0;
    decode::sampling_params sampling;
    float sampler_state = 0;
    std::uint32_t top_logprobs = 0, min_tokens = 0;
    bool ignore_end = false;
    prompt_results about_prompt;
    memory::prefix_key prefix;
    std::int32_t priority = 0;
    std::vector<token_id> ids;     // prompt, log, and every token made
    std::uint32_t prompt = 0;      // of ids
    std::uint32_t shared = 0;      // positions whose pages others may have already
    std::uint32_t next_index = 0;  // of the token made next
    std::uint32_t max_tokens = 0, upto = 0;
    bool long_rope = false;
    bool reported = false;  // stream_opened
    std::optional<batch_time> parked_at;
    std::optional<plan::sequence> sequence;  // while it runs
    std::uint32_t length() const { return sequence ? sequence->length() : 0; }
    std::uint32_t remaining() const { return static_cast<std::uint32_t>(ids.size()) - length(); }
    std::uint32_t most() const { return prompt + std::max(max_tokens, 1u) - 1; }  // positions it may come to hold
    bool has_credit() const { return next_index < upto; }
    /// The last id waits for credit, so that no token is made that may not be sent.
    std::uint32_t ready() const { return has_credit() ? remaining() : remaining() - 1; }
  };
  struct sampling_sink;
  struct chosen_row {
    stream* who = nullptr;
    std::uint32_t tokens = 0;
  };

  const cancel_flag& flag_of(const stream& s) const { return core_->cancel[s.flag]; }
  std::uint32_t running() const;
  std::uint32_t ahead_of(const stream& s, std::uint32_t tokens) const;

  void drop_cancelled();
  void cancel(stream& s);
  bool make_room(stream& s, std::uint32_t more, std::uint32_t ahead);
  void admit();
  bool admit(stream& s);
  bool waits_for_prefix(const stream& s) const;
  bool may_resume(const stream& s) const;
  stream* victim();
  void park(stream& s);

  void choose_rows();
  void secure_rows();
  void add_row(const chosen_row& row);
  std::uint32_t prefill_room(std::uint32_t decode_rows) const;
  void finish_row(stream& s, const plan::batch_row& row, plan::outcome outcome, msg::raw_token* made);
  void finish_embedding(stream& s);
  void show_slots();
  void note_pace(std::chrono::nanoseconds took);
  void end_with_fault(stream& s, std::string why);
  void keep(stream& s, std::uint32_t positions);
  void erase(const stream& s);
  void count();
  stream* find(const msg::stream_key& key);

  std::shared_ptr<model_core> core_;
  std::uint64_t epoch_;
  batch_output& out_;
  batch_clock now_;
  batch_time looked_at_{};                                             // whether there is work
  std::bitset<max_streams> shown_ = std::bitset<max_streams>().set();  // slots marked busy; at first another batch's
  memory::prefix_key prefix_;                                          // but for the salt
  state_pages pages_;
  prefill_pace pace_;
  std::list<stream> streams_;    // in order of arrival
  std::list<stream> cancelled_;  // until their close says how much of them counts, or their pages are needed
  decode::sampler sampler_;
  std::vector<chosen_row> chosen_;
  std::vector<plan::batch_row> rows_;
  std::vector<std::optional<msg::raw_token>> made_;
};

}  // namespace infer::actors
