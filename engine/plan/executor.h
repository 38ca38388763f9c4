// What runs a plan: the CPU's executor and a device's look the same from outside.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/core/cancel.h"
#include "engine/core/result.h"
#include "engine/plan/fault.h"
#include "engine/plan/kv_layout.h"
#include "engine/plan/plan.h"
#include "engine/plan/sequence.h"
#include "engine/plan/weights.h"

namespace infer::plan {

/// Which positions of a row yield logits; `hidden`: all yield their hidden state after the final norm instead.
enum class want : std::uint8_t { none, last, all, hidden };

/// One sequence's part of a step: a prefill chunk and a decode token are the same row with different lengths.
struct batch_row {
  sequence* seq = nullptr;
  std::span<const token_id> ids;  // at positions seq->length(), +1, …; seq has room for them
  want out = want::last;
  const cancel_flag* cancel = nullptr;  // polled once per layer; a cancelled row is dropped at the next one
  bool long_rope = false;               // the same for a sequence as long as it lives
};

enum class outcome : std::uint8_t { done, cancelled, numeric_fault };

struct step_result {
  std::span<const outcome> rows;  // one per row of the batch; valid until the next submit
  std::uint32_t layers_run = 0;   // summed over rows: how many (row, layer) pairs were computed
};

/// Takes what wanted positions yield, one position at a time. `position` counts the row's wanted positions from 0.
struct row_sink {
  virtual ~row_sink() = default;
  /// Shapes: logits [vocabulary], valid during the call.
  virtual void take(std::uint32_t row, std::uint32_t position, std::span<const float> logits) = 0;
  /// Shapes: values [width], valid during the call.
  virtual void take_hidden(std::uint32_t /*row*/, std::uint32_t /*position*/, std::span<const float> /*values*/) {}
};

/// Quantized activations follow design §6.1; `f32` is the second named numeric mode of §6.4.
enum class activation_mode : std::uint8_t { quantized, f32 };

/// Sees every slot after the operation that wrote it. Shapes: values [rows, width].
using tap_fn = std::function<void(const op& o, std::uint32_t rows, std::uint32_t width, std::span<const float> values)>;

/// A plan prepared for one executor: packed weights and scratch.
struct program {
  virtual ~program() = default;
};
using program_ptr = std::unique_ptr<program>;

/// Names a submitted step.
struct ticket {
  std::uint64_t number = 0;
};

/// Where an executor finds the bytes of a page.
struct page_memory {
  virtual ~page_memory() = default;
  virtual std::byte* data(page_index page) = 0;
};

struct program_options {
  kv_type keys = kv_type::f16, values = kv_type::f16;
  activation_mode activations = activation_mode::quantized;
  std::uint32_t max_batch_tokens = 512;
};

/// What a caller may see of a preparation, and how it ends one early.
struct prepare_watch {
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // bytes of weights; from the calling thread
  const cancel_flag* cancel = nullptr;
};

/// Errors:  `unsupported` at prepare; `bad_row`, `no_pages` and `past_context` at submit, before anything is computed.
/// Threads: one step in flight per program; a program belongs to one thread at a time.
struct executor {
  virtual ~executor() = default;
  virtual result<program_ptr> prepare(const plan& p, const weight_table& weights, page_memory& pages,
                                      const program_options& options, const prepare_watch& watch = {}) = 0;
  /// Starts a step. Rows must name different sequences.
  virtual result<ticket> submit(program& on, std::span<const batch_row> rows) = 0;
  /// Finishes it: logits go to the sink, and only now the sequences of rows that are `done` grow.
  virtual result<step_result> collect(program& on, ticket step, row_sink& sink) = 0;
  virtual void set_tap(tap_fn tap) = 0;
};

}  // namespace infer::plan
