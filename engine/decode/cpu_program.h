// A plan prepared for the CPU executor: resolved weights, scratch, and the rows of the step in flight.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/core/result.h"
#include "engine/kernels/ops.h"
#include "engine/plan/executor.h"

namespace infer::decode {

/// One weight ready to be read: a matrix as the kernels see it, or a vector in f32.
struct prepared_weight {
  kernels::matrix_view matrix;
  std::vector<float> vector;      // rows == 1: dequantized
  std::vector<std::byte> packed;  // rows put in canonical order, where the file has another
};

/// The values of one slot and their quantized form, made when first asked for.
struct slot_buffer {
  std::uint32_t width = 0;
  plan::row_set rows = plan::row_set::all;
  std::vector<float> values;
  std::vector<std::int8_t> codes;
  std::vector<float> scales, sums_scaled;
  std::vector<std::int16_t> sums;
  bool g32_valid = false, g256_valid = false;
};

/// A row of the step in flight and where its tokens lie in the slots.
struct active_row {
  std::uint32_t row = 0;  // index in the batch
  std::uint32_t first = 0, tokens = 0;
  std::uint32_t first_wanted = 0, wanted = 0;
  std::vector<std::byte*> pages;
};

struct cpu_program final : plan::program {
  plan::plan plan;
  plan::program_options options;
  plan::page_memory* pages = nullptr;
  std::shared_ptr<const void> owner;
  plan::kv_layout layout;
  std::vector<prepared_weight> weights;
  std::vector<slot_buffer> slots;
  std::vector<float> logits;

  std::uint64_t tickets = 0;
  std::vector<plan::batch_row> batch;
  std::vector<active_row> active;
  std::vector<plan::outcome> outcomes;
  std::vector<std::int32_t> positions;
  std::uint32_t tokens = 0, wanted = 0, layers_run = 0;

  std::uint32_t rows_in(const slot_buffer& slot) const { return slot.rows == plan::row_set::all ? tokens : wanted; }
};

/// Resolves weights and takes scratch. Errors: types or operations the kernels lack, non-finite scales.
result<std::unique_ptr<cpu_program>> make_cpu_program(const plan::plan& p, const plan::weight_table& weights,
                                                      plan::page_memory& pages, const plan::program_options& options);

}  // namespace infer::decode
