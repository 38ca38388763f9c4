// The port of a model: routes streams, watches requests, sets cancel flags at once, turns ids into bytes.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "actors/model/port_state.h"
#include "protocol/interfaces/actors.h"

namespace infer::actors {

/// The port together with what its subtree sends it.
using inner_port_actor =
    port_actor::extend<caf::reacts_to<msg::raw_tokens>, caf::reacts_to<msg::stream_opened>,
                       caf::reacts_to<msg::stream_refused>, caf::reacts_to<msg::decode_bound, decode_actor>>;

class port_actor_state {
 public:
  explicit port_actor_state(inner_port_actor::pointer self);
  inner_port_actor::behavior_type make(std::shared_ptr<model_core> core, tokenizer_actor tokenizer,
                                       sessions_actor sessions);

  const char* name = "port";

 private:
  // Both repeat once where the tokenizer dies under them.
  void encode(const msg::encode_prompt& message, const stream_sink& sink, std::uint32_t attempt);
  void decode_text(const msg::decode_ids& message, const stream_sink& sink, std::uint32_t attempt);
  void open(const msg::open_stream& message, const stream_sink& sink);
  void open_at_decode(const msg::open_stream& message);
  void forward(const msg::raw_tokens& message);
  msg::token with_bytes(const msg::raw_token& raw, bool hidden) const;
  bool is_hidden(token_id id) const;
  void bind(std::uint64_t epoch, const decode_actor& decode);
  void watch(const stream_sink& sink);
  void sink_down(const caf::actor_addr& address);

  inner_port_actor::pointer self_;
  std::shared_ptr<model_core> core_;
  tokenizer_actor tokenizer_;
  sessions_actor sessions_;
  decode_actor decode_;
  std::uint64_t epoch_ = 0;
  std::unique_ptr<stream_table> streams_;
  std::set<caf::actor_addr> watched_;
  std::vector<msg::open_stream> unbound_;  // opens that came while no decode was bound
};

inner_port_actor::behavior_type run_port(inner_port_actor::stateful_pointer<port_actor_state> self,
                                         std::shared_ptr<model_core> core, tokenizer_actor tokenizer,
                                         sessions_actor sessions);

}  // namespace infer::actors
