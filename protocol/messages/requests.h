// What the gateway and embedding programs send to run a request, and the events they get back.
#pragma once

#include "protocol/messages/prompts.h"
#include "protocol/messages/streams.h"

namespace infer::msg {

enum class request_task : std::uint8_t {
  generate,    // continue the prompt
  encode,      // answer text_transformed with ids (and pieces or rendered text, as the prompt asks)
  decode_ids,  // answer text_transformed with the text of prompt.ids
  embed,       // answer text_transformed with the embeddings of the prompts
};

/// gateway or embedder → requests, with the sink that gets the events. Floats are already validated.
struct generate {
  std::uint64_t request_id = 0;  // unique in the process; next_request_id() makes one
  request_task task = request_task::generate;
  std::string model;  // empty: the default model
  infer::msg::prompt prompt;
  std::vector<infer::msg::prompt> more_prompts;  // generate, embed: of the same request, after `prompt`
  infer::msg::sampling sampling;
  infer::msg::pooling pooling{};        // embed
  std::uint32_t choices = 1;            // of each prompt; the events count choice = prompt · choices + i
  bool echo = false;                    // text prompts and ids: the answer begins with the prompt
  std::uint32_t max_tokens = no_limit;  // absent: the rest of the context
  std::vector<std::string> stop;
  bool logprobs = false;         // tokens in text_made carry log-probabilities
  bool split_reasoning = false;  // chat: what the model thinks comes apart from its answer
  bool seed_given = false;       // else the request draws a seed and reports it
  std::int32_t priority = 0;
  std::uint32_t deadline_ms = no_limit;
  std::uint32_t window = 64;     // tokens that may be under way to the sink, per choice
  std::uint64_t cache_salt = 0;  // of the caller: computed prefixes are shared only where it is the same
};

/// request → sink, once, before every other event: who computes it. Goes together with the request actor's handle, to
/// which the sink sends `taken` and `cancel_request`.
struct request_accepted {
  std::uint64_t request_id = 0;
};

/// request → sink, any number of times before request_started: the request waits for a model.
struct request_waiting {
  std::uint64_t request_id = 0;
  std::string reason;
  std::uint32_t percent = 0;
};

/// request → sink, once: the first token is about to follow. From here on the answer is 200.
struct request_started {
  std::uint64_t request_id = 0;
  std::string model;  // the real id
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;
  std::uint64_t seed = 0;
};

/// A token as clients see it: the text it added (its share of `text_made.text`), its true bytes, its log-probability.
struct text_token {
  std::int32_t id = 0;
  std::string bytes;
  f32_bits logprob;
  std::vector<alternative> top;
};

/// request → sink: more of one choice. Both texts are whole UTF-8; `reasoning` comes before `text`, which never is part
/// of a stop string. The sink answers `taken{upto}` when the bytes have left.
struct text_made {
  std::uint64_t request_id = 0;
  std::uint32_t choice = 0;
  std::string text;
  std::vector<text_token> tokens;  // where log-probabilities were asked for
  std::uint32_t upto = 0;          // tokens of this choice covered so far
  std::string reasoning{};         // where it was to be split off
};

enum class finish_reason : std::uint8_t { stop, length };

/// request → sink: one choice is complete.
struct choice_finished {
  std::uint64_t request_id = 0;
  std::uint32_t choice = 0;
  finish_reason reason{};
  std::string stop_text;  // the stop string that ended it, where one did
  std::uint32_t completion_tokens = 0;
};

/// request → sink, last: all choices are complete.
struct request_finished {
  std::uint64_t request_id = 0;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t completion_tokens = 0;
  std::uint32_t cached_tokens = 0;
  std::uint64_t prefill_us = 0;        // from the open of the first stream to its first token
  std::uint64_t decode_us = 0;         // from there to the end
  std::uint32_t reasoning_tokens = 0;  // of the completion's, where reasoning was split off
};

/// request → sink, last: nothing more will come.
struct request_failed {
  std::uint64_t request_id = 0;
  refusal code{};
  std::string message;
  std::string param;                 // the field that is at fault, empty: none
  std::uint32_t retry_after_ms = 0;  // 0: do not retry
};

/// request → sink, last, for the tasks that only transform text.
struct text_transformed {
  std::uint64_t request_id = 0;
  std::string model;
  std::vector<std::int32_t> ids;
  std::vector<std::string> pieces;
  std::string text;
  std::vector<f32_bits> embeddings;  // of all prompts, one after the other, each as long as the next
  std::uint32_t prompt_tokens = 0;   // embed: of all prompts
};

/// sink → request: tokens of `choice` up to `upto` have left the process. Absolute, repeatable.
struct taken {
  std::uint64_t request_id = 0;
  std::uint32_t choice = 0;
  std::uint32_t upto = 0;
};

/// sink → request: stop computing and end. No further event follows. The end of the sink does the same.
struct cancel_request {
  std::uint64_t request_id = 0;
};

template <class I>
auto inspect(I& f, generate& x) {
  return f(x.request_id, x.task, x.model, x.prompt, x.more_prompts, x.sampling, x.pooling, x.choices, x.echo,
           x.max_tokens, x.stop, x.logprobs, x.split_reasoning, x.seed_given, x.priority, x.deadline_ms, x.window,
           x.cache_salt);
}
template <class I>
auto inspect(I& f, request_accepted& x) {
  return f(x.request_id);
}
template <class I>
auto inspect(I& f, request_waiting& x) {
  return f(x.request_id, x.reason, x.percent);
}
template <class I>
auto inspect(I& f, request_started& x) {
  return f(x.request_id, x.model, x.prompt_tokens, x.cached_tokens, x.seed);
}
template <class I>
auto inspect(I& f, text_token& x) {
  return f(x.id, x.bytes, x.logprob, x.top);
}
template <class I>
auto inspect(I& f, text_made& x) {
  return f(x.request_id, x.choice, x.text, x.tokens, x.upto, x.reasoning);
}
template <class I>
auto inspect(I& f, choice_finished& x) {
  return f(x.request_id, x.choice, x.reason, x.stop_text, x.completion_tokens);
}
template <class I>
auto inspect(I& f, request_finished& x) {
  return f(x.request_id, x.prompt_tokens, x.completion_tokens, x.cached_tokens, x.prefill_us, x.decode_us,
           x.reasoning_tokens);
}
template <class I>
auto inspect(I& f, request_failed& x) {
  return f(x.request_id, x.code, x.message, x.param, x.retry_after_ms);
}
template <class I>
auto inspect(I& f, text_transformed& x) {
  return f(x.request_id, x.model, x.ids, x.pieces, x.text, x.embeddings, x.prompt_tokens);
}
template <class I>
auto inspect(I& f, taken& x) {
  return f(x.request_id, x.choice, x.upto);
}
template <class I>
auto inspect(I& f, cancel_request& x) {
  return f(x.request_id);
}

/// A request id that no other call in this process returned. Threads: any.
std::uint64_t next_request_id();

}  // namespace infer::msg
