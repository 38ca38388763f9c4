// A plan prepared for the CPU executor: packed weights, scratch, and the rows of the step in flight.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/core/result.h"
#include "engine/kernels/ops.h"
#include "engine/memory/huge_buffer.h"
#include "engine/plan/executor.h"
#include "engine/quant/blocks.h"
#include "engine/threads/compute_lane.h"

namespace infer::decode {

/// One weight ready to be read: a matrix as the kernels see it, or a vector in f32.
struct prepared_weight {
  kernels::matrix_view matrix;
  std::vector<float> vector;       // rows == 1: dequantized
  std::vector<std::byte> ordered;  // rows of a plain matrix put in canonical order, where the file has another
};

/// Quantized activations of a slot in one form, made when first asked for.
struct quantized_slot {
  std::vector<std::int8_t> codes;
  std::vector<float> scales, sums_scaled;
  std::vector<std::int32_t> negative_sums;
  std::vector<std::int16_t> sums, sums32;
  kernels::quantized_rows rows;
  bool valid = false;
};

struct slot_buffer {
  std::uint32_t width = 0;
  plan::row_set rows = plan::row_set::all;
  std::vector<float> values;
  quantized_slot g32, g256;

  quantized_slot& form(quant::canonical_form f) { return f == quant::canonical_form::g32 ? g32 : g256; }
  void invalidate() { g32.valid = g256.valid = false; }
};

/// A row of the step in flight and where its tokens lie in the slots.
struct active_row {
  std::uint32_t row = 0;  // index in the batch
  std::uint32_t first = 0, tokens = 0;
  std::uint32_t first_wanted = 0, wanted = 0;
};

/// What is computed together: one operation, linear operations on the same input, or a gated pair.
struct phase {
  enum class kind : std::uint8_t { one, linears, gated } what = kind::one;
  std::uint32_t first = 0, count = 1;  // operations of the plan
  std::uint8_t forms = 0;              // of a norm: in which its reader wants the result, bit 0 g32, bit 1 g256
};

/// Whether an operation is one that quantizes its result in the pass that makes it.
inline bool is_norm(const plan::op& o) {
  return o.kind == plan::op_kind::rms_norm || o.kind == plan::op_kind::layer_norm;
}

/// Sines and cosines that operations with the same frequencies share. Shapes: [tokens, half].
struct angle_table {
  plan::rope_params turns;
  std::vector<float> sine, cosine;
  bool valid = false;
};

struct cpu_program final : plan::program {
  plan::plan plan;
  plan::program_options options;
  plan::page_memory* pages = nullptr;
  std::shared_ptr<const void> owner;  // of bytes that are read where they lie
  memory::huge_buffer packed;
  std::vector<prepared_weight> weights;
  std::vector<phase> phases;
  std::vector<slot_buffer> slots;
  std::vector<angle_table> angles;
  std::vector<std::uint16_t> angles_of;  // for each params row
  std::vector<float> logits;

  std::uint64_t tickets = 0;
  bool in_flight = false;
  std::vector<plan::batch_row> batch;
  std::vector<active_row> active;
  std::vector<std::byte*> page_table;     // the pages of all rows, row after row, group after group
  std::vector<std::uint32_t> first_page;  // of each row and group in `page_table`, and the end
  std::vector<plan::outcome> outcomes;
  std::vector<std::int32_t> positions;
  std::uint32_t tokens = 0, wanted = 0, layers_run = 0;

  std::uint32_t rows_in(const slot_buffer& slot) const { return slot.rows == plan::row_set::all ? tokens : wanted; }
};

/// Packs weights and takes scratch. Errors: types or operations the kernels lack, non-finite scales, cancelled.
/// Threads: packs on the lane's pool, in turns of a few milliseconds that wait for no disk.
result<std::unique_ptr<cpu_program>> make_cpu_program(const plan::plan& p, const plan::weight_table& weights,
                                                      plan::page_memory& pages, const plan::program_options& options,
                                                      const plan::prepare_watch& watch, const kernels::op_table& ops,
                                                      threads::compute_lane& lane);

}  // namespace infer::decode
