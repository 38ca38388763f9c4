// The running batch of one model: which streams are in it, what the next step computes, what it yields. No actor in
// here: the behaviour is in decode_actor.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/model/model_core.h"
#include "engine/decode/sampler.h"
#include "protocol/messages/streams.h"
#include "protocol/messages/subtree.h"

namespace infer::actors {

/// What leaves the batch: tokens of a stream, or a refusal.
struct batch_output {
  virtual ~batch_output() = default;
  virtual void made(msg::raw_tokens tokens) = 0;
  virtual void refused(msg::stream_refused refusal) = 0;
};

/// Streams wait in order of arrival until the page pool can hold all that they may come to; then they are prefilled in
/// chunks beside the decode rows of others, and make one token a step while they have credit. A stream never waits for
/// pages once it is admitted.
/// Threads: one. Memory: sequences live here and go back to the pool with this object.
class running_batch {
 public:
  running_batch(std::shared_ptr<model_core> core, std::uint64_t epoch, batch_output& out);

  /// Idempotent for (key, attempt); a higher attempt replaces the stream.
  void open(const msg::open_stream& message, std::uint32_t flag);
  void grant(const msg::grant& message);
  void close(const msg::stream_key& key);

  /// Whether a step would compute something.
  bool has_work() const;
  /// Computes one step. Throws what hooks throw and where the executor refuses: that is a crash.
  void step();

 private:
  struct stream {
    msg::stream_key key;
    std::uint32_t attempt = 0, flag = 0;
    msg::sampling sampling;
    std::vector<token_id> pending;  // ids not fed yet: prompt and log at first, then the last token
    std::uint32_t fed = 0;          // of pending
    std::uint32_t next_index = 0;   // of the token made next
    std::uint32_t max_tokens = 0, upto = 0;
    std::uint32_t reserved_pages = 0;
    std::optional<plan::sequence> sequence;  // once admitted
    std::uint32_t remaining() const { return static_cast<std::uint32_t>(pending.size()) - fed; }
    bool has_credit() const { return next_index < upto; }
  };
  struct sampling_sink;

  const cancel_flag& flag_of(const stream& s) const { return core_->cancel[s.flag]; }
  void admit();
  void drop_cancelled();
  void choose_rows();
  void add_row(stream& s, std::uint32_t tokens);
  void finish_row(stream& s, const plan::batch_row& row, plan::outcome outcome, msg::raw_token* made);
  void end_with_fault(stream& s, std::string why);
  void erase(const stream& s);
  void count();
  stream* find(const msg::stream_key& key);

  std::shared_ptr<model_core> core_;
  std::uint64_t epoch_;
  batch_output& out_;
  std::list<stream> streams_;  // in order of arrival
  std::uint32_t reserved_pages_ = 0;
  decode::sampler sampler_;
  std::vector<stream*> chosen_;
  std::vector<plan::batch_row> rows_;
  std::vector<std::optional<msg::raw_token>> made_;
};

}  // namespace infer::actors
