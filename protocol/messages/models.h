// What the zoo tells about models and takes as orders.
#pragma once

#include "protocol/messages/scalars.h"

namespace infer::msg {

enum class model_state : std::uint8_t { absent, claiming, loading, cancelling, ready, closing, draining, failed };

/// What a running model has done since it was loaded, and what it has under way.
struct model_work {
  std::uint64_t prompt_tokens = 0;  // computed
  std::uint64_t cached_tokens = 0;  // of prompts, taken from what others had computed
  std::uint64_t tokens_made = 0;
  std::uint64_t steps = 0;
  std::uint64_t layers_run = 0;      // of all steps together
  std::uint64_t rows_cancelled = 0;  // rows that steps left out because nobody wanted them any more
  std::uint64_t parkings = 0;        // streams that gave their pages back to others for a while
  std::uint32_t streams_open = 0;
  std::uint32_t streams_waiting = 0;
  std::uint32_t pages_free = 0;
  std::uint32_t pages_total = 0;
};

/// A stream that a model computes at the moment, as `/slots` shows it.
struct slot_row {
  std::uint64_t request_id = 0;
  std::uint32_t choice = 0;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t held = 0;  // positions computed
  std::uint32_t made = 0;  // tokens
};

/// What there is to know of a loaded model beside its state, as `/props` shows it.
struct model_facts {
  std::uint32_t slots = 0;  // sequences at once
  std::uint32_t vocabulary = 0;
  std::string template_text, bos_text, eos_text;
};

/// One model as `/v1/models` and `infer-node list` show it.
struct model_row {
  std::string id;
  std::vector<std::string> aliases;
  std::string path;
  model_state state{};
  std::uint32_t percent = 0;  // of a load
  std::uint32_t leases = 0;
  std::uint32_t waiters = 0;
  std::uint32_t context = 0;  // 0 until loaded
  std::uint32_t trained_context = 0;
  std::uint64_t bytes = 0;    // memory held
  std::uint64_t created = 0;  // seconds since 1970
  std::string detail;         // why it failed
  model_work work;            // zero while nothing runs
  model_facts facts;          // empty while nothing runs
  std::vector<slot_row> busy;
};

struct list_models {
  std::uint64_t request_id = 0;
};
struct load_model {
  std::uint64_t request_id = 0;
  std::string model;
};
struct unload_model {
  std::uint64_t request_id = 0;
  std::string model;
};

/// zoo to itself: something is due: a deadline, the end of a keep-alive or of a back-off.
struct zoo_tick {
  std::uint64_t number = 0;
};

/// zoo → admin sink: answers list_models; rows in configuration order, the default model first.
struct model_list {
  std::uint64_t request_id = 0;
  std::vector<model_row> models;
};
/// zoo → admin sink: answers load_model and unload_model when the model has reached the state or failed to.
struct model_changed {
  std::uint64_t request_id = 0;
  bool done = false;
  model_row model;
  std::string message;
};

template <class I>
auto inspect(I& f, model_work& x) {
  return f(x.prompt_tokens, x.cached_tokens, x.tokens_made, x.steps, x.layers_run, x.rows_cancelled, x.parkings,
           x.streams_open, x.streams_waiting, x.pages_free, x.pages_total);
}
template <class I>
auto inspect(I& f, slot_row& x) {
  return f(x.request_id, x.choice, x.prompt_tokens, x.held, x.made);
}
template <class I>
auto inspect(I& f, model_facts& x) {
  return f(x.slots, x.vocabulary, x.template_text, x.bos_text, x.eos_text);
}
template <class I>
auto inspect(I& f, model_row& x) {
  return f(x.id, x.aliases, x.path, x.state, x.percent, x.leases, x.waiters, x.context, x.trained_context, x.bytes,
           x.created, x.detail, x.work, x.facts, x.busy);
}
template <class I>
auto inspect(I& f, list_models& x) {
  return f(x.request_id);
}
template <class I>
auto inspect(I& f, load_model& x) {
  return f(x.request_id, x.model);
}
template <class I>
auto inspect(I& f, unload_model& x) {
  return f(x.request_id, x.model);
}
template <class I>
auto inspect(I& f, zoo_tick& x) {
  return f(x.number);
}
template <class I>
auto inspect(I& f, model_list& x) {
  return f(x.request_id, x.models);
}
template <class I>
auto inspect(I& f, model_changed& x) {
  return f(x.request_id, x.done, x.model, x.message);
}

}  // namespace infer::msg
