// The decode of one model: owns the running batch, on a thread of its own. Sees no text.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "actors/model/decode_state.h"
#include "protocol/interfaces/actors.h"

namespace infer::actors {

class decode_actor_state : public batch_output {
 public:
  explicit decode_actor_state(decode_actor::pointer self);
  decode_actor::behavior_type make(std::shared_ptr<model_core> core, std::uint64_t epoch);

  void opened(msg::stream_opened opened) override;
  void made(msg::raw_tokens tokens) override;
  void refused(msg::stream_refused refusal) override;

  const char* name = "decode";

 private:
  void go_on();
  void step(const msg::make_step& message);

  decode_actor::pointer self_;
  std::shared_ptr<model_core> core_;
  std::uint64_t epoch_ = 0;
  std::optional<running_batch> batch_;
  raw_token_sink port_;
  bool step_due_ = false;
  std::optional<batch_time> wake_due_;
};

/// `epoch` is new for every start over the same core.
decode_actor::behavior_type run_decode(decode_actor::stateful_pointer<decode_actor_state> self,
                                       std::shared_ptr<model_core> core, std::uint64_t epoch);

}  // namespace infer::actors
