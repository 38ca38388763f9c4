// Inside one model's subtree: port, decode, tokenizer and sessions.
#pragma once

#include "protocol/messages/scalars.h"

namespace infer::msg {

/// port → decode: where in the core's flag table the stream's cancel flag lies. Travels with the open_stream.
struct stream_slot {
  std::uint32_t index = 0;
};

/// A token before its bytes are looked up.
struct raw_token {
  std::int32_t id = 0;
  f32_bits logprob;
  std::vector<std::int32_t> top_ids;
  std::vector<f32_bits> top_logprobs;
  f32_bits sampler_state;
};

/// decode → port.
struct raw_tokens {
  stream_key key;
  std::uint64_t epoch = 0;
  std::uint32_t first_index = 0;
  std::vector<raw_token> tokens;
  std::uint8_t end = 0;  // stream_end
  std::string fault;
  std::vector<raw_token> prompt;  // both where they were asked for
  std::vector<f32_bits> embedding;
};

/// supervisor → whoever is in `needs`: the current decode, after every (re)start.
struct decode_bound {
  std::uint64_t epoch = 0;
};

/// port → sessions: how much of this prompt is kept somewhere? → prefix_found.
struct find_prefix {
  stream_key key;
  std::uint32_t attempt = 0;
  std::vector<std::int32_t> ids;
};
struct prefix_found {
  stream_key key;
  std::uint32_t attempt = 0;
  std::uint32_t length = 0;
};

/// decode to itself: make one step, or with epoch 0 see whether there is work again.
struct make_step {
  std::uint64_t epoch = 0;
};

template <class I>
auto inspect(I& f, stream_slot& x) {
  return f(x.index);
}
template <class I>
auto inspect(I& f, raw_token& x) {
  return f(x.id, x.logprob, x.top_ids, x.top_logprobs, x.sampler_state);
}
template <class I>
auto inspect(I& f, raw_tokens& x) {
  return f(x.key, x.epoch, x.first_index, x.tokens, x.end, x.fault, x.prompt, x.embedding);
}
template <class I>
auto inspect(I& f, decode_bound& x) {
  return f(x.epoch);
}
template <class I>
auto inspect(I& f, find_prefix& x) {
  return f(x.key, x.attempt, x.ids);
}
template <class I>
auto inspect(I& f, prefix_found& x) {
  return f(x.key, x.attempt, x.length);
}
template <class I>
auto inspect(I& f, make_step& x) {
  return f(x.epoch);
}

}  // namespace infer::msg
