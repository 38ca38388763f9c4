// The stream protocol: tokens of one choice, exactly once, across restarts of whoever makes them (design §4.2).
#pragma once

#include "protocol/messages/scalars.h"

namespace infer::msg {

/// What is added to the logit of a token, or of every token of a text.
struct logit_bias {
  std::int32_t id = -1;  // where `text` is empty; ids outside the vocabulary count for nothing
  std::string text;
  f32_bits bias;  // −infinity: never this token
};

inline std::vector<std::string> default_dry_breakers() {
  return {"\n", ":", "\"", "*"};
}

/// How to pick tokens. What the parameters mean is in engine/decode/sampling_params.h; the defaults do nothing, but for
/// the temperature: 0 is greedy.
struct sampling {
  f32_bits temperature = 1.0f;
  std::uint32_t top_k = 0;
  f32_bits top_p = 1.0f;
  f32_bits min_p = 0.0f;
  std::uint64_t seed = 0;
  std::uint32_t choice = 0;        // among the choices of one prompt: a part of the generator's key
  std::uint32_t top_logprobs = 0;  // alternatives to report with each token
  bool ignore_end = false;         // go on past end-of-generation tokens
  std::uint32_t min_tokens = 0;    // before so many tokens are made, none that ends the generation

  f32_bits typical_p = 1.0f;
  f32_bits top_n_sigma = -1.0f;
  f32_bits xtc_probability = 0.0f;
  f32_bits xtc_threshold = 0.1f;
  f32_bits dynatemp_range = 0.0f;
  f32_bits dynatemp_exponent = 1.0f;
  std::uint32_t min_keep = 0;

  f32_bits repeat_penalty = 1.0f;
  f32_bits presence_penalty = 0.0f;
  f32_bits frequency_penalty = 0.0f;
  std::int32_t repeat_last_n = 64;  // −1: all
  f32_bits dry_multiplier = 0.0f;
  f32_bits dry_base = 1.75f;
  std::uint32_t dry_allowed_length = 2;
  std::int32_t dry_penalty_last_n = -1;                            // −1: all
  std::vector<std::string> dry_breakers = default_dry_breakers();  // texts at which a repetition ends

  std::uint8_t mirostat = 0;  // 0: off, else the version
  f32_bits mirostat_tau = 5.0f;
  f32_bits mirostat_eta = 0.1f;

  std::string stages = default_stages;  // the chain, a letter each
  std::vector<logit_bias> biases;

  /// penalties, dry, top_n_sigma, top_k, typ_p, top_p, min_p, xtc, temperature: the letters that llama.cpp's server
  /// uses, in the order of the chain unless another is asked for.
  static constexpr const char* default_stages = "edskypmxt";
};

/// How the hidden states of a prompt become one embedding.
enum class pooling : std::uint8_t { none, mean, cls, last };

/// request → port: make tokens for `key` after prompt and accepted ids, up to index `upto` (absolute, exclusive).
/// Idempotent for (key, attempt).
struct open_stream {
  stream_key key;
  std::uint32_t attempt = 0;
  std::vector<std::int32_t> prompt_ids;
  std::vector<std::int32_t> accepted_ids;  // the log so far; grammar and penalties replay it
  f32_bits sampler_state;                  // of the log's last token
  infer::msg::sampling sampling;
  bool score_prompt = false;      // report the log-probabilities of the prompt's own tokens
  infer::msg::pooling pooling{};  // not none: the prompt's embedding, and no tokens
  std::string constraint_kind;    // empty: none
  std::string constraint_source;
  std::uint32_t max_tokens = no_limit;  // of the whole log
  std::uint32_t upto = 0;
  std::int32_t priority = 0;
  std::uint32_t deadline_ms = no_limit;
  std::uint64_t cache_salt = 0;  // computed prefixes are shared only where it is the same
};

/// port → request: admitted. `cached` prompt positions did not have to be computed. Also decode → port.
struct stream_opened {
  stream_key key;
  std::uint32_t attempt = 0;
  std::uint64_t epoch = 0;
  std::uint32_t cached = 0;
};

struct stream_refused {
  stream_key key;
  std::uint32_t attempt = 0;
  refusal code{};
  std::string message;
  std::uint32_t retry_after_ms = 0;
};

struct alternative {
  std::int32_t id = 0;
  std::string bytes;
  f32_bits logprob;
};

/// A token with the bytes of its piece (empty for control tokens, whose text is never shown).
struct token {
  std::int32_t id = 0;
  std::string bytes;
  f32_bits logprob;
  std::vector<alternative> top;
  f32_bits sampler_state;  // what the sampler needs beside the log to go on after this token
};

enum class stream_end : std::uint8_t {
  none,
  stop_token,  // the last token ends the generation; it carries no text
  length,      // max_tokens, or the context is full
  fault,       // this stream alone failed, see `fault`
};

/// port → request: tokens at indexes first_index, +1, …, all within credit. `end` rides with the last token.
struct tokens_made {
  stream_key key;
  std::uint64_t epoch = 0;
  std::uint32_t first_index = 0;
  std::vector<token> tokens;
  stream_end end = stream_end::none;
  std::string fault;
  std::vector<token> prompt;        // with the first, where asked for: the prompt's own; the first's value is no number
  std::vector<f32_bits> embedding;  // with the end, where asked for; its length is 1
};

/// request → port: tokens up to `upto` (absolute) may be made. Repeatable; only the largest counts.
struct grant {
  stream_key key;
  std::uint64_t epoch = 0;
  std::uint32_t upto = 0;
};

/// request → port: the stream is over; its first `accepted` tokens count.
struct close_stream {
  stream_key key;
  std::uint64_t epoch = 0;
  std::uint32_t accepted = 0;
};

/// port → request.
struct stream_closed {
  stream_key key;
};

/// port → every request with a stream: tokens of this epoch and earlier will not come any more; re-open.
struct stream_lost {
  std::uint64_t epoch = 0;
};

template <class I>
auto inspect(I& f, logit_bias& x) {
  return f(x.id, x.text, x.bias);
}
template <class I>
auto inspect(I& f, sampling& x) {
  return f(x.temperature, x.top_k, x.top_p, x.min_p, x.seed, x.choice, x.top_logprobs, x.ignore_end, x.min_tokens,
           x.typical_p, x.top_n_sigma, x.xtc_probability, x.xtc_threshold, x.dynatemp_range, x.dynatemp_exponent,
           x.min_keep, x.repeat_penalty, x.presence_penalty, x.frequency_penalty, x.repeat_last_n, x.dry_multiplier,
           x.dry_base, x.dry_allowed_length, x.dry_penalty_last_n, x.dry_breakers, x.mirostat, x.mirostat_tau,
           x.mirostat_eta, x.stages, x.biases);
}
template <class I>
auto inspect(I& f, open_stream& x) {
  return f(x.key, x.attempt, x.prompt_ids, x.accepted_ids, x.sampler_state, x.sampling, x.score_prompt, x.pooling,
           x.constraint_kind, x.constraint_source, x.max_tokens, x.upto, x.priority, x.deadline_ms, x.cache_salt);
}
template <class I>
auto inspect(I& f, stream_opened& x) {
  return f(x.key, x.attempt, x.epoch, x.cached);
}
template <class I>
auto inspect(I& f, stream_refused& x) {
  return f(x.key, x.attempt, x.code, x.message, x.retry_after_ms);
}
template <class I>
auto inspect(I& f, alternative& x) {
  return f(x.id, x.bytes, x.logprob);
}
template <class I>
auto inspect(I& f, token& x) {
  return f(x.id, x.bytes, x.logprob, x.top, x.sampler_state);
}
template <class I>
auto inspect(I& f, tokens_made& x) {
  return f(x.key, x.epoch, x.first_index, x.tokens, x.end, x.fault, x.prompt, x.embedding);
}
template <class I>
auto inspect(I& f, grant& x) {
  return f(x.key, x.epoch, x.upto);
}
template <class I>
auto inspect(I& f, close_stream& x) {
  return f(x.key, x.epoch, x.accepted);
}
template <class I>
auto inspect(I& f, stream_closed& x) {
  return f(x.key);
}
template <class I>
auto inspect(I& f, stream_lost& x) {
  return f(x.epoch);
}

}  // namespace infer::msg
