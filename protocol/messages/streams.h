// The stream protocol: tokens of one choice, exactly once, across restarts of whoever makes them (design §4.2).
#pragma once

#include "protocol/messages/scalars.h"

namespace infer::msg {

/// How to pick tokens. Off values: top_k 0, top_p 1, min_p 0. Temperature 0 is greedy.
struct sampling {
  f32_bits temperature = 1.0f;
  std::uint32_t top_k = 0;
  f32_bits top_p = 1.0f;
  f32_bits min_p = 0.0f;
  std::uint64_t seed = 0;
  std::uint32_t top_logprobs = 0;  // alternatives to report with each token
  bool ignore_end = false;         // go on past end-of-generation tokens
};

/// request → port: make tokens for `key` after prompt and accepted ids, up to index `upto` (absolute, exclusive).
/// Idempotent for (key, attempt).
struct open_stream {
  stream_key key;
  std::uint32_t attempt = 0;
  std::vector<std::int32_t> prompt_ids;
  std::vector<std::int32_t> accepted_ids;  // the log so far; grammar and penalties replay it
  infer::msg::sampling sampling;
  std::string constraint_kind;  // empty: none
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
auto inspect(I& f, sampling& x) {
  return f(x.temperature, x.top_k, x.top_p, x.min_p, x.seed, x.top_logprobs, x.ignore_end);
}
template <class I>
auto inspect(I& f, open_stream& x) {
  return f(x.key, x.attempt, x.prompt_ids, x.accepted_ids, x.sampling, x.constraint_kind, x.constraint_source,
           x.max_tokens, x.upto, x.priority, x.deadline_ms, x.cache_salt);
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
  return f(x.id, x.bytes, x.logprob, x.top);
}
template <class I>
auto inspect(I& f, tokens_made& x) {
  return f(x.key, x.epoch, x.first_index, x.tokens, x.end, x.fault);
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
