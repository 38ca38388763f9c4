// Preparing a plan for the CPU.
#include "engine/decode/cpu_program.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "engine/decode/cpu_executor.h"
#include "engine/quant/dequantize.h"

namespace infer::decode {
namespace {

constexpr std::uint32_t reserved_rows = 64;    // of a batch whose page tables need no allocation
constexpr std::uint32_t logit_rows = 16;       // wanted positions whose logits are computed together
constexpr std::size_t task_bytes = 256 << 10;  // packed by one thread at a time
constexpr std::uint32_t tasks_per_turn = 16;   // about 4 MiB: a few milliseconds of the lane
constexpr std::size_t strip_bytes = 16 << 20;  // of the file, read before they are packed and dropped behind that

std::size_t row_bytes_of(const plan::weight_source& weight) {
  const tensor_type_info& info = info_of(weight.type);
  return std::size_t{weight.columns} / info.block_elements * info.block_bytes;
}

error named(const plan::weight_source& weight, error e) {
  e.detail = weight.name + ": " + e.message();
  return e;
}

result<void> check_scales(const plan::weight_source& weight, byte_view bytes) {
  if (auto finite = quant::check_finite_scales(weight.type, bytes); !finite) return fail(named(weight, finite.error()));
  return success();
}

result<prepared_weight> prepare_vector(const plan::weight_source& weight) {
  INFER_TRYV(check_scales(weight, weight.bytes));
  std::vector<float> values(weight.bytes.size() / info_of(weight.type).block_bytes);
  INFER_TRYV(quant::dequantize(weight.type, weight.bytes, values));
  prepared_weight out;
  out.vector.resize(weight.columns);
  for (std::uint32_t i = 0; i < weight.columns; ++i) out.vector[i] = values[plan::file_row(weight, i)] + weight.plus;
  return out;
}

/// Whether canonical rows are those of the file in its order.
bool lies_as_read(const plan::weight_source& weight) {
  return weight.order == plan::row_order::canonical && weight.run_rows == 0 && weight.transposed_stride == 0;
}

/// One canonical row: where the file has it, or gathered into `scratch` [row bytes] where it lies across.
const std::byte* find_row(const plan::weight_source& weight, std::uint32_t row, std::byte* scratch) {
  if (weight.transposed_stride == 0) return weight.bytes.data() + plan::file_row(weight, row) * row_bytes_of(weight);
  const std::size_t size = info_of(weight.type).block_bytes;
  for (std::uint32_t k = 0; k < weight.columns; ++k)
    std::memcpy(scratch + k * size, weight.bytes.data() + (std::size_t{k} * weight.transposed_stride + row) * size,
                size);
  return scratch;
}

result<void> check_row(const plan::weight_source& weight, std::uint32_t row, const std::byte* bytes) {
  if (auto finite = quant::check_finite_scales(weight.type, {bytes, row_bytes_of(weight)}); !finite) {
    error e = named(weight, finite.error());
    e.detail += " (in row " + std::to_string(row) + ")";
    return fail(std::move(e));
  }
  return success();
}

/// A matrix in rows of canonical order: those of the file where they lie so.
result<prepared_weight> prepare_rows(const plan::weight_source& weight) {
  prepared_weight out;
  const std::size_t row_bytes = row_bytes_of(weight);
  const std::byte* bytes = weight.bytes.data();
  if (lies_as_read(weight)) {
    INFER_TRYV(check_scales(weight, weight.bytes));
  } else {
    out.ordered.resize(weight.rows * row_bytes);
    std::vector<std::byte> scratch(row_bytes);
    for (std::uint32_t row = 0; row < weight.rows; ++row) {
      const std::byte* from = find_row(weight, row, scratch.data());
      INFER_TRYV(check_row(weight, row, from));
      std::memcpy(out.ordered.data() + row * row_bytes, from, row_bytes);
    }
    bytes = out.ordered.data();
  }
  out.matrix = {weight.type, weight.rows, weight.columns, bytes, row_bytes};
  return out;
}

/// Reads one byte of every page, so that nobody waits for the disk while he has a turn.
void touch(byte_view bytes) {
  constexpr std::size_t page = 4096;
  volatile std::byte seen{};
  for (std::size_t at = 0; at < bytes.size(); at += page) seen = bytes[at];
  (void)seen;
}

/// Panels [first, end) of a matrix, their scales checked on the way.
result<void> pack_panels(const plan::weight_source& weight, std::uint32_t first, std::uint32_t end, std::byte* to) {
  const std::size_t row_bytes = row_bytes_of(weight), stride = quant::panel_bytes(weight.type, weight.columns);
  std::vector<std::byte> scratch(weight.transposed_stride == 0 ? 0 : quant::panel_rows * row_bytes);
  for (std::uint32_t panel = first; panel < end; ++panel) {
    std::array<const std::byte*, quant::panel_rows> rows{};
    for (std::uint32_t lane = 0; lane < quant::panel_rows; ++lane) {
      const std::uint32_t at = panel * quant::panel_rows + lane;
      if (at >= weight.rows) break;
      rows[lane] = find_row(weight, at, scratch.data() + (scratch.empty() ? 0 : lane * row_bytes));
      INFER_TRYV(check_row(weight, at, rows[lane]));
    }
    quant::pack_panel(weight.type, rows, weight.columns, to + panel * stride);
  }
  return success();
}

/// Rows of a matrix that are read, packed and dropped together: all where they lie across the file.
std::uint32_t strip_rows(const plan::weight_source& weight) {
  if (!lies_as_read(weight)) return weight.rows;
  const auto panels = static_cast<std::uint32_t>(strip_bytes / (quant::panel_rows * row_bytes_of(weight)));
  return std::min(weight.rows, std::max(1u, panels) * quant::panel_rows);
}

/// A matrix in panels at `to`.
result<prepared_weight> pack_matrix(const plan::weight_source& weight, std::byte* to, threads::compute_lane& lane,
                                    const std::function<void(byte_view)>& drop) {
  const std::size_t stride = quant::panel_bytes(weight.type, weight.columns);
  const std::uint32_t panels = (weight.rows + quant::panel_rows - 1) / quant::panel_rows;
  const auto per_task = static_cast<std::uint32_t>(std::max<std::size_t>(1, task_bytes / stride));
  const std::uint32_t per_turn = per_task * tasks_per_turn;
  const std::uint32_t per_strip = (strip_rows(weight) + quant::panel_rows - 1) / quant::panel_rows;
  const std::size_t strip = weight.bytes.size() / weight.rows * strip_rows(weight);
  std::mutex mutex;
  std::optional<error> wrong;
  std::size_t read = 0;
  for (std::uint32_t first = 0, end = 0; first < panels && !wrong; first = end) {
    if (first % per_strip == 0) {
      if (drop && read != 0) drop(weight.bytes.first(read));
      const std::size_t more = per_strip >= panels ? weight.bytes.size() : std::min(strip, weight.bytes.size() - read);
      touch(weight.bytes.subspan(read, more));
      read += more;
    }
    end = std::min({panels, first + per_turn, (first / per_strip + 1) * per_strip});
    const threads::compute_lane::turn turn(lane);
    lane.pool().run((end - first + per_task - 1) / per_task, [&](std::uint32_t task) {
      const std::uint32_t begin = first + task * per_task;
      if (auto packed = pack_panels(weight, begin, std::min(begin + per_task, end), to); !packed) {
        const std::lock_guard lock(mutex);
        wrong = packed.error();
      }
    });
  }
  if (wrong) return fail(std::move(*wrong));
  prepared_weight out;
  out.matrix = {weight.type, weight.rows, weight.columns, to, stride};
  return out;
}

std::uint64_t packed_total(const plan::weight_table& weights) {
  std::uint64_t bytes = 0;
  for (const plan::weight_source& weight : weights.weights)
    if (weight.rows > 1) bytes += quant::packed_bytes(weight.type, weight.rows, weight.columns);
  return bytes;
}

result<void> prepare_weights(cpu_program& program, const plan::weight_table& weights, const plan::prepare_watch& watch,
                             const kernels::op_table& ops, threads::compute_lane& lane) {
  const bool pack = ops.pack == quant::pack_kind::r16k4;
  if (pack) {
    INFER_TRY(program.packed, memory::huge_buffer::make(packed_total(weights)));
  } else {
    program.owner = weights.owner;
  }
  std::uint64_t total = 0, done = 0;
  for (const plan::weight_source& weight : weights.weights) total += weight.bytes.size();
  std::byte* to = program.packed.data();
  program.weights.reserve(weights.weights.size());
  for (const plan::weight_source& weight : weights.weights) {
    if (watch.cancel != nullptr && watch.cancel->is_set())
      return fail(error{std::make_error_code(std::errc::operation_canceled), "the load was cancelled"});
    INFER_TRY(auto prepared, weight.rows == 1 ? prepare_vector(weight)
                             : pack           ? pack_matrix(weight, to, lane, weights.drop)
                                              : prepare_rows(weight));
    if (pack && weight.rows > 1) to += quant::packed_bytes(weight.type, weight.rows, weight.columns);
    program.weights.push_back(std::move(prepared));
    if (weights.drop && program.weights.back().matrix.bytes != weight.bytes.data()) weights.drop(weight.bytes);
    done += weight.bytes.size();
    if (watch.progress) watch.progress(done, total);
  }
  return success();
}

quantized_slot make_quantized(std::size_t tokens, std::size_t width, std::size_t group, bool g32) {
  quantized_slot out;
  const std::size_t groups = width / group;
  out.codes.resize(tokens * width);
  out.scales.resize(tokens * groups);
  if (g32) {
    out.sums_scaled.resize(tokens * groups);
    out.negative_sums.resize(tokens * groups);
  } else {
    out.sums.resize(tokens * groups * quant::g256_subs);
    out.sums32.resize(tokens * groups * quant::g256_subs / 2);
  }
  out.rows = {out.codes.data(),
              out.scales.data(),
              out.sums_scaled.data(),
              out.negative_sums.data(),
              out.sums.data(),
              out.sums32.data(),
              static_cast<std::uint32_t>(groups)};
  return out;
}

std::uint8_t form_bit(tensor_type type) {
  const quant::canonical_form form = quant::form_of(type);
  return form == quant::canonical_form::g32 ? 1 : form == quant::canonical_form::g256 ? 2 : 0;
}

/// The quantized forms in which operations read a slot: bit 0 g32, bit 1 g256.
template <class TypeOf>
std::vector<std::uint8_t> forms_of_slots(const plan::plan& p, const plan::program_options& options,
                                         const TypeOf& type_of) {
  std::vector<std::uint8_t> out(p.slots.size(), 0);
  if (options.activations == plan::activation_mode::f32) return out;
  for (const plan::op& o : p.ops) {
    if (o.kind != plan::op_kind::linear && o.kind != plan::op_kind::output) continue;
    out[o.in[0]] |= form_bit(type_of(o.w[0]));
  }
  return out;
}

/// Whether `next` reads the same input as `group` and neither needs nor overwrites what those write or read.
bool independent(std::span<const plan::op> group, const plan::op& next) {
  return std::ranges::all_of(group, [&](const plan::op& o) {
    return o.in[0] == next.in[0] && o.out[0] != next.in[0] && next.out[0] != next.in[0] && o.out[0] != next.in[1] &&
           next.out[0] != o.in[1] && o.out[0] != next.out[0];
  });
}

/// Whether the third operation gates the first by the second, row by row.
bool gates(const plan::plan& p, std::span<const plan::op> ops) {
  const auto width = [&](plan::slot_id slot) { return p.slots[slot].width; };
  return ops[2].in[0] == ops[0].out[0] && ops[2].in[1] == ops[1].out[0] && ops[2].out[0] != ops[0].in[0] &&
         width(ops[0].out[0]) == width(ops[1].out[0]) && width(ops[0].out[0]) == width(ops[2].out[0]);
}

/// Linear operations that follow each other on the same input, and a gate behind a pair of them, are one phase.
std::vector<phase> phases_of(const plan::plan& p) {
  std::vector<phase> out;
  const auto is = [&](std::size_t i, plan::op_kind kind) { return i < p.ops.size() && p.ops[i].kind == kind; };
  for (std::uint32_t at = 0; at < p.ops.size();) {
    phase next{phase::kind::one, at, 1};
    if (is(at, plan::op_kind::linear)) {
      next.what = phase::kind::linears;
      while (is(at + next.count, plan::op_kind::linear) &&
             independent(std::span(p.ops).subspan(at, next.count), p.ops[at + next.count]))
        ++next.count;
      if (next.count == 2 && is(at + 2, plan::op_kind::gate) && gates(p, std::span(p.ops).subspan(at, 3))) {
        next.what = phase::kind::gated;
        next.count = 3;
      }
    }
    out.push_back(next);
    at += next.count;
  }
  return out;
}

/// A norm whose result the next phase reads quantizes it while it has it.
void fuse_norms(cpu_program& program) {
  if (program.options.activations == plan::activation_mode::f32) return;
  for (std::size_t i = 0; i + 1 < program.phases.size(); ++i) {
    phase& norm = program.phases[i];
    const phase& next = program.phases[i + 1];
    const plan::op& o = program.plan.ops[norm.first];
    if (!is_norm(o) || next.what == phase::kind::one) continue;
    for (std::uint32_t at = next.first; at < next.first + next.count; ++at) {
      const plan::op& reader = program.plan.ops[at];
      if (reader.kind == plan::op_kind::linear && reader.in[0] == o.out[0])
        norm.forms |= form_bit(program.weights[reader.w[0].index].matrix.type);
    }
  }
}

/// Whether two operations turn by the same angles, of whatever heads.
bool same_turns(const plan::rope_params& a, const plan::rope_params& b) {
  return a.inverse_frequency == b.inverse_frequency && a.long_frequency == b.long_frequency &&
         a.magnitude == b.magnitude && a.growth == b.growth && a.growth_length == b.growth_length;
}

void make_angles(cpu_program& program) {
  program.angles_of.assign(program.plan.params.size(), 0);
  for (std::size_t i = 0; i < program.plan.params.size(); ++i) {
    const plan::rope_params& rope = program.plan.params[i].rope;
    if (rope.inverse_frequency.empty()) continue;
    const auto same = [&](const angle_table& t) { return same_turns(t.turns, rope); };
    auto at = std::ranges::find_if(program.angles, same);
    if (at == program.angles.end()) {
      const std::size_t size = std::size_t{program.options.max_batch_tokens} * rope.inverse_frequency.size();
      program.angles.push_back({rope, std::vector<float>(size), std::vector<float>(size), false});
      at = program.angles.end() - 1;
    }
    program.angles_of[i] = static_cast<std::uint16_t>(at - program.angles.begin());
  }
}

void make_scratch(cpu_program& program) {
  const plan::plan& p = program.plan;
  const std::uint32_t tokens = program.options.max_batch_tokens;
  const auto forms =
      forms_of_slots(p, program.options, [&](plan::weight_ref w) { return program.weights[w.index].matrix.type; });
  for (std::size_t id = 0; id < p.slots.size(); ++id) {
    slot_buffer slot;
    slot.width = p.slots[id].width;
    slot.rows = p.slots[id].rows;
    slot.values.resize(std::size_t{tokens} * slot.width);
    if (forms[id] & 1) slot.g32 = make_quantized(tokens, slot.width, quant::g32_elements, true);
    if (forms[id] & 2) slot.g256 = make_quantized(tokens, slot.width, quant::g256_elements, false);
    program.slots.push_back(std::move(slot));
  }
  make_angles(program);
  program.logits.resize(std::size_t{logit_rows} * p.vocabulary);
  program.positions.reserve(tokens);
  program.batch.reserve(tokens);
  program.active.reserve(tokens);
  program.outcomes.reserve(tokens);
  const std::size_t rows = std::min<std::size_t>(tokens, reserved_rows);
  program.first_page.reserve(rows * p.groups.size() + 1);
  program.page_table.reserve(rows * p.groups.size() * plan::pages_for(p.trained_context));
}

}  // namespace

result<std::unique_ptr<cpu_program>> make_cpu_program(const plan::plan& p, const plan::weight_table& weights,
                                                      plan::page_memory& pages, const plan::program_options& options,
                                                      const plan::prepare_watch& watch, const kernels::op_table& ops,
                                                      threads::compute_lane& lane) {
  for (const plan::state_group& group : p.groups) {
    if (group.kind != plan::state_kind::paged && group.kind != plan::state_kind::windowed)
      return fail(plan::fault::unsupported, "the CPU executor runs plans with paged and windowed state");
  }
  auto program = std::make_unique<cpu_program>();
  program->plan = p;
  program->options = options;
  program->pages = &pages;
  program->phases = phases_of(p);
  INFER_TRYV(prepare_weights(*program, weights, watch, ops, lane));
  fuse_norms(*program);
  make_scratch(*program);
  return program;
}

std::uint64_t scratch_bytes(const plan::plan& p, const plan::weight_table& weights,
                            const plan::program_options& options) {
  const auto forms = forms_of_slots(p, options, [&](plan::weight_ref w) { return weights.weights[w.index].type; });
  std::uint64_t bytes = std::uint64_t{logit_rows} * p.vocabulary * sizeof(float);
  for (std::size_t slot = 0; slot < p.slots.size(); ++slot) {
    const std::uint64_t width = p.slots[slot].width;
    std::uint64_t per_row = width * 4;
    if (forms[slot] & 1) per_row += width + width / 32 * 12;
    if (forms[slot] & 2) per_row += width + width / 256 * 4 + width / 16 * 2 + width / 32 * 2;
    bytes += per_row * options.max_batch_tokens;
  }
  return bytes;
}

std::uint64_t load_bytes(const plan::weight_table& weights, const kernels::op_table& ops) {
  std::uint64_t most = 0;
  for (const plan::weight_source& weight : weights.weights) {
    const bool strips = weight.rows > 1 && ops.pack == quant::pack_kind::r16k4 && lies_as_read(weight);
    most = std::max<std::uint64_t>(most, strips ? strip_rows(weight) * row_bytes_of(weight) : weight.bytes.size());
  }
  return most;
}

std::uint64_t weight_bytes(const plan::weight_table& weights, const kernels::op_table& ops) {
  std::uint64_t bytes = 0;
  for (const plan::weight_source& weight : weights.weights) {
    if (weight.rows == 1)
      bytes += std::uint64_t{weight.columns} * 4;
    else if (ops.pack == quant::pack_kind::r16k4)
      bytes += quant::packed_bytes(weight.type, weight.rows, weight.columns);
    else
      bytes += weight.rows * row_bytes_of(weight) * (lies_as_read(weight) ? 1 : 2);
  }
  return bytes;
}

}  // namespace infer::decode
