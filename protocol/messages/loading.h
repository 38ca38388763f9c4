// Loading a model: the zoo's conversation with the loader and with the supervisor of models. Inside one process, so the
// loaded model itself may travel as a handle to shared, immutable data.
#pragma once

#include <memory>

#include "protocol/messages/scalars.h"

namespace infer::actors {
struct model_core;
}

namespace infer::msg {

/// A loaded model: weights, page pool, tokenizer. Shared by the actors of its subtree.
struct model_handle {
  std::shared_ptr<actors::model_core> core;
};
inline std::string to_string(const model_handle& x) {
  return x.core ? "model_handle(loaded)" : "model_handle(none)";
}

/// A running model to look at, not to keep: its counters. Does not leave the process.
struct model_watch {
  std::weak_ptr<const actors::model_core> core;
};
inline std::string to_string(const model_watch&) {
  return "model_watch";
}

/// What to load and how.
struct model_source {
  std::string id;
  std::string path;
  std::uint32_t context = 0;  // positions per sequence; 0: min(trained, 8192)
  std::uint32_t slots = 8;    // sequences at once
  std::string key_type = "f16", value_type = "f16";
  std::string activations = "quantized";
  std::uint32_t batch = 512;  // tokens per step
};

/// zoo → loader: how much memory would it take? Reads the header only.
struct measure_model {
  std::uint32_t generation = 0;
  model_source source;
};
struct model_measured {
  std::uint32_t generation = 0;
  std::string id;
  std::uint64_t floor_bytes = 0;
  std::uint32_t trained_context = 0;
};
/// zoo → loader: load; the claim's bytes are set aside.
struct load_weights {
  std::uint32_t generation = 0;
  std::uint64_t claim_id = 0;
  model_source source;
};
struct load_progress {
  std::uint32_t generation = 0;
  std::string id;
  std::uint32_t percent = 0;
};
/// loader → zoo, together with the model_handle.
struct model_loaded {
  std::uint32_t generation = 0;
  std::string id;
  std::uint64_t bytes = 0;
  std::uint32_t context = 0;
  std::uint32_t trained_context = 0;
};
struct load_failed {
  std::uint32_t generation = 0;
  std::string id;
  std::string message;
  bool retryable = false;
  bool cancelled = false;
};
/// zoo → loader; answered by load_failed{cancelled} unless the load had already ended.
struct cancel_load {
  std::uint32_t generation = 0;
  std::string id;
};

/// zoo → models, together with the model_handle: put a subtree under this model.
struct start_model {
  std::uint32_t generation = 0;
  std::string id;
};
/// models → zoo, together with the port and a watch on the model; again after the port was restarted.
struct model_started {
  std::uint32_t generation = 0;
  std::string id;
  std::uint64_t bytes = 0;
  std::uint32_t context = 0;
  std::uint32_t trained_context = 0;
};
/// models to itself: has the memory of an ended subtree been credited?
struct check_credited {
  std::string id;
  std::uint32_t generation = 0;
};

/// zoo → models.
struct stop_model {
  std::uint32_t generation = 0;
  std::string id;
};
/// a new zoo → models, with its sink: every running model answers model_started; the sink replaces the old zoo's.
struct who_runs {
  std::uint64_t zoo_epoch = 0;
};
/// models → zoo: the subtree has ended and its memory has been credited; `message` is empty where that was asked for.
struct model_down {
  std::uint32_t generation = 0;
  std::string id;
  std::string message;
};

template <class I>
auto inspect(I& f, model_source& x) {
  return f(x.id, x.path, x.context, x.slots, x.key_type, x.value_type, x.activations, x.batch);
}
template <class I>
auto inspect(I& f, measure_model& x) {
  return f(x.generation, x.source);
}
template <class I>
auto inspect(I& f, model_measured& x) {
  return f(x.generation, x.id, x.floor_bytes, x.trained_context);
}
template <class I>
auto inspect(I& f, load_weights& x) {
  return f(x.generation, x.claim_id, x.source);
}
template <class I>
auto inspect(I& f, load_progress& x) {
  return f(x.generation, x.id, x.percent);
}
template <class I>
auto inspect(I& f, model_loaded& x) {
  return f(x.generation, x.id, x.bytes, x.context, x.trained_context);
}
template <class I>
auto inspect(I& f, load_failed& x) {
  return f(x.generation, x.id, x.message, x.retryable, x.cancelled);
}
template <class I>
auto inspect(I& f, cancel_load& x) {
  return f(x.generation, x.id);
}
template <class I>
auto inspect(I& f, start_model& x) {
  return f(x.generation, x.id);
}
template <class I>
auto inspect(I& f, model_started& x) {
  return f(x.generation, x.id, x.bytes, x.context, x.trained_context);
}
template <class I>
auto inspect(I& f, check_credited& x) {
  return f(x.id, x.generation);
}
template <class I>
auto inspect(I& f, stop_model& x) {
  return f(x.generation, x.id);
}
template <class I>
auto inspect(I& f, who_runs& x) {
  return f(x.zoo_epoch);
}
template <class I>
auto inspect(I& f, model_down& x) {
  return f(x.generation, x.id, x.message);
}

}  // namespace infer::msg
