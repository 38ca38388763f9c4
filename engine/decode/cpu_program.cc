// Preparing a plan for the CPU.
#include "engine/decode/cpu_program.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/decode/cpu_executor.h"
#include "engine/quant/blocks.h"
#include "engine/quant/dequantize.h"

namespace infer::decode {
namespace {

constexpr std::uint32_t logit_rows = 16;  // wanted positions whose logits are computed together

std::size_t row_bytes_of(const plan::weight_source& weight) {
  const tensor_type_info& info = info_of(weight.type);
  return std::size_t{weight.columns} / info.block_elements * info.block_bytes;
}

/// Rows of `weight` in canonical order.
std::vector<std::byte> reorder(const plan::weight_source& weight, std::size_t row_bytes) {
  std::vector<std::byte> out(weight.bytes.size());
  for (std::uint32_t row = 0; row < weight.rows; ++row)
    std::memcpy(out.data() + row * row_bytes, weight.bytes.data() + plan::file_row(weight, row) * row_bytes, row_bytes);
  return out;
}

result<prepared_weight> prepare_vector(const plan::weight_source& weight) {
  std::vector<float> values(weight.columns);
  INFER_TRYV(quant::dequantize(weight.type, weight.bytes, values));
  prepared_weight out;
  out.vector.resize(weight.columns);
  for (std::uint32_t i = 0; i < weight.columns; ++i) out.vector[i] = values[plan::file_row(weight, i)];
  return out;
}

result<prepared_weight> prepare_weight(const plan::weight_source& weight) {
  if (auto finite = quant::check_finite_scales(weight.type, weight.bytes); !finite) {
    error e = finite.error();
    e.detail = weight.name + ": " + e.message();
    return fail(std::move(e));
  }
  if (weight.rows == 1) return prepare_vector(weight);
  prepared_weight out;
  const std::size_t row_bytes = row_bytes_of(weight);
  const std::byte* bytes = weight.bytes.data();
  if (weight.order != plan::row_order::canonical) {
    out.packed = reorder(weight, row_bytes);
    bytes = out.packed.data();
  }
  out.matrix = {weight.type, weight.rows, weight.columns, bytes, row_bytes};
  return out;
}

slot_buffer make_slot(const plan::slot_desc& desc, std::uint32_t tokens, bool quantized) {
  slot_buffer slot;
  slot.width = desc.width;
  slot.rows = desc.rows;
  slot.values.resize(std::size_t{tokens} * desc.width);
  if (quantized) {
    const std::size_t groups = std::size_t{tokens} * (desc.width / quant::g32_elements + 1);
    slot.codes.resize(std::size_t{tokens} * desc.width);
    slot.scales.resize(groups);
    slot.sums_scaled.resize(groups);
    slot.sums.resize(std::size_t{tokens} * (desc.width / quant::g256_sub_elements + 1));
  }
  return slot;
}

/// Slots that a linear or output operation reads with quantized weights.
std::vector<bool> quantized_slots(const plan::plan& p, const plan::program_options& options) {
  std::vector<bool> out(p.slots.size(), false);
  if (options.activations == plan::activation_mode::f32) return out;
  for (const plan::op& o : p.ops) {
    if (o.kind == plan::op_kind::linear || o.kind == plan::op_kind::output) out[o.in[0]] = true;
  }
  return out;
}

}  // namespace

result<std::unique_ptr<cpu_program>> make_cpu_program(const plan::plan& p, const plan::weight_table& weights,
                                                      plan::page_memory& pages, const plan::program_options& options) {
  for (const plan::state_group& group : p.groups) {
    if (group.kind != plan::state_kind::paged && group.kind != plan::state_kind::windowed)
      return fail(plan::fault::unsupported, "the CPU executor runs plans with paged and windowed state");
  }
  auto program = std::make_unique<cpu_program>();
  program->plan = p;
  program->options = options;
  program->pages = &pages;
  program->owner = weights.owner;
  program->layout = plan::layout_of(p.groups[0], options.keys, options.values);
  program->weights.reserve(weights.weights.size());
  for (const plan::weight_source& weight : weights.weights) {
    INFER_TRY(auto prepared, prepare_weight(weight));
    program->weights.push_back(std::move(prepared));
  }
  const std::vector<bool> quantized = quantized_slots(p, options);
  for (std::size_t slot = 0; slot < p.slots.size(); ++slot)
    program->slots.push_back(make_slot(p.slots[slot], options.max_batch_tokens, quantized[slot]));
  program->logits.resize(std::size_t{logit_rows} * p.vocabulary);
  program->positions.reserve(options.max_batch_tokens);
  return program;
}

std::uint64_t scratch_bytes(const plan::plan& p, const plan::program_options& options) {
  const std::vector<bool> quantized = quantized_slots(p, options);
  std::uint64_t bytes = std::uint64_t{logit_rows} * p.vocabulary * sizeof(float);
  for (std::size_t slot = 0; slot < p.slots.size(); ++slot) {
    const std::uint64_t width = p.slots[slot].width;
    const std::uint64_t per_row =
        width * 4 + (quantized[slot] ? width + (width / 32 + 1) * 8 + (width / 16 + 1) * 2 : 0);
    bytes += per_row * options.max_batch_tokens;
  }
  return bytes;
}

}  // namespace infer::decode
