// The tokenizer of one model: templates and text to ids, ids to text. Stateless beside what the core holds.
#pragma once

#include <memory>

#include "actors/model/model_core.h"
#include "protocol/interfaces/actors.h"
#include "protocol/messages/prompts.h"

namespace infer::actors {

/// Encodes a prompt by the core's template and vocabulary. The error is a refusal ready to be sent.
/// Threads: re-entrant.
struct encoded_prompt {
  msg::prompt_encoded encoded;
  msg::prompt_refused refused;  // request_id 0: none
};
encoded_prompt encode(const model_core& core, const msg::encode_prompt& message);

/// Whether a token at the beginning of a text is the one that is put there, which no echo shows.
bool is_added_begin(const tokenize::tokenizer& vocabulary, token_id id);

class tokenizer_state {
 public:
  explicit tokenizer_state(tokenizer_actor::pointer self);
  tokenizer_actor::behavior_type make(std::shared_ptr<model_core> core);

  const char* name = "tokenizer";

 private:
  tokenizer_actor::pointer self_;
  std::shared_ptr<model_core> core_;
};

tokenizer_actor::behavior_type run_tokenizer(tokenizer_actor::stateful_pointer<tokenizer_state> self,
                                             std::shared_ptr<model_core> core);

}  // namespace infer::actors
