// Running a plan on the CPU, one phase after the other.
#include "engine/decode/cpu_executor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "engine/core/elementary.h"
#include "engine/decode/cpu_program.h"
#include "engine/quant/blocks.h"

namespace infer::decode {
namespace {

/// Tokens below which work on single tokens is not worth sharing.
constexpr std::uint32_t shared_tokens = 4;
/// Tokens of one attention task while a prompt is read.
constexpr std::uint32_t attention_tokens = 16;

/// One step over a program: what `collect` does between the first operation and the last.
class step {
 public:
  step(const kernels::op_table& ops, threads::compute_pool& pool, const plan::tap_fn& tap, cpu_program& p,
       plan::row_sink& sink)
      : ops_(ops), pool_(pool), tap_(tap), p_(p), sink_(sink) {}

  void run() {
    for (angle_table& table : p_.angles) table.valid = false;
    std::uint32_t layer = std::numeric_limits<std::uint32_t>::max();
    for (const phase& next : p_.phases) {
      const plan::op& o = p_.plan.ops[next.first];
      if (o.layer != layer) {
        layer = o.layer;
        drop_cancelled();
        if (layer < p_.plan.layers) p_.layers_run += static_cast<std::uint32_t>(p_.active.size());
      }
      if (p_.active.empty()) return;
      run(next);
    }
  }

 private:
  slot_buffer& slot(plan::slot_id id) { return p_.slots[id]; }
  const prepared_weight& weight(plan::weight_ref w) const { return p_.weights[w.index]; }

  void run(const phase& next) {
    const std::span ops(p_.plan.ops.data() + next.first, next.count);
    switch (next.what) {
      case phase::kind::linears:
        linears(ops);
        break;
      case phase::kind::gated:
        // Who looks at intermediates wants to see the pair before it is gated.
        if (tap_) {
          linears(ops.first(2));
          show(ops.first(2));
          pairwise(ops[2], bodies_of(ops[2]).gate);
          return show(ops.last(1));
        }
        gated(ops);
        break;
      case phase::kind::one:
        run(ops[0], next.forms);
    }
    show(ops);
  }

  void show(std::span<const plan::op> ops) {
    if (!tap_) return;
    for (const plan::op& o : ops) {
      if (o.out[0] == plan::no_slot) continue;
      const slot_buffer& out = p_.slots[o.out[0]];
      tap_(o, p_.rows_in(out), out.width, std::span(out.values).first(std::size_t{p_.rows_in(out)} * out.width));
    }
  }

  void run(const plan::op& o, std::uint8_t forms) {
    switch (o.kind) {
      case plan::op_kind::embed:
        return embed(o);
      case plan::op_kind::gather:
        return gather(o);
      case plan::op_kind::rms_norm:
      case plan::op_kind::layer_norm:
        return norm(o, forms);
      case plan::op_kind::linear:
        return linears({&o, 1});
      case plan::op_kind::rope:
        return rope(o);
      case plan::op_kind::store_kv:
        return store(o);
      case plan::op_kind::attention:
        return attend(o);
      case plan::op_kind::gate:
        return pairwise(o, bodies_of(o).gate);
      case plan::op_kind::activate:
        return activate(o);
      case plan::op_kind::add:
        return pairwise(o, ops_.add);
      case plan::op_kind::output:
        return output(o);
    }
  }

  /// Runs f(token) for every token, on all threads where there are many.
  template <class F>
  void each_token(std::uint32_t tokens, const F& f) {
    if (tokens < shared_tokens) {
      for (std::uint32_t t = 0; t < tokens; ++t) f(t);
    } else {
      pool_.run(tokens, f);
    }
  }

  void embed(const plan::op& o) {
    slot_buffer& out = slot(o.out[0]);
    const auto [scale, by_position] = p_.plan.params[o.params].embed;
    for (const active_row& row : p_.active) {
      each_token(row.tokens, [&](std::uint32_t t) {
        float* values = out.values.data() + std::size_t{row.first + t} * out.width;
        const std::int32_t index = by_position ? p_.positions[row.first + t] : p_.batch[row.row].ids[t];
        ops_.embed_row(weight(o.w[0]).matrix, static_cast<std::uint32_t>(index), values);
        if (scale != 1.0f) std::for_each_n(values, out.width, [&](float& value) { value = value * scale; });
      });
    }
    out.invalidate();
  }

  void gather(const plan::op& o) {
    const slot_buffer& in = slot(o.in[0]);
    slot_buffer& out = slot(o.out[0]);
    for (const active_row& row : p_.active) {
      const float* from = in.values.data() + std::size_t{row.first + row.tokens - row.wanted} * in.width;
      std::copy_n(from, std::size_t{row.wanted} * in.width,
                  out.values.data() + std::size_t{row.first_wanted} * out.width);
    }
    out.invalidate();
  }

  /// Norm and, in the same pass over a token, the forms in which the result is read.
  void norm(const plan::op& o, std::uint8_t forms) {
    const slot_buffer& in = slot(o.in[0]);
    slot_buffer& out = slot(o.out[0]);
    const std::vector<float>& weights = weight(o.w[0]).vector;
    const plan::norm_params& norm = p_.plan.params[o.params].norm;
    const float* bias = o.w[1] ? weight(o.w[1]).vector.data() : nullptr;
    const auto width = static_cast<std::uint32_t>(in.width / norm.parts);
    // Parts in a run have one weight: all of them, or each by itself.
    const std::uint32_t run = weights.size() == width ? norm.parts : 1;
    out.invalidate();
    each_token(p_.rows_in(in), [&](std::uint32_t t) {
      const std::size_t at = std::size_t{t} * in.width;
      const float* x = in.values.data() + at;
      float* y = out.values.data() + at;
      for (std::uint32_t part = 0; part < norm.parts; part += run) {
        const std::size_t skip = std::size_t{part} * width;
        const float* w = run == 1 ? weights.data() + skip : weights.data();
        if (o.kind == plan::op_kind::rms_norm)
          ops_.rms_norm(x + skip, w, norm.eps, run, width, y + skip);
        else
          ops_.layer_norm(x + skip, w, bias, norm.eps, run, width, y + skip);
      }
      if (forms & 1) quantize(out, quant::canonical_form::g32, t);
      if (forms & 2) quantize(out, quant::canonical_form::g256, t);
    });
    out.g32.valid = (forms & 1) != 0;
    out.g256.valid = (forms & 2) != 0;
  }

  /// One token of a slot in one form.
  void quantize(slot_buffer& in, quant::canonical_form form, std::uint32_t token) {
    const bool g32 = form == quant::canonical_form::g32;
    (g32 ? ops_.quantize_g32 : ops_.quantize_g256)(
        in.values.data() + std::size_t{token} * in.width, 1, in.width,
        in.form(form).rows.from(token, g32 ? quant::g32_elements : quant::g256_elements));
  }

  const kernels::quantized_rows& quantized(slot_buffer& in, quant::canonical_form form) {
    quantized_slot& q = in.form(form);
    if (!q.valid) {
      each_token(p_.rows_in(in), [&](std::uint32_t t) { quantize(in, form, t); });
      q.valid = true;
    }
    return q.rows;
  }

  /// Fills in the activations in the form that the weight and the mode ask for.
  kernels::linear_args linear_args(const kernels::matrix_view& w, slot_buffer& in) {
    kernels::linear_args a;
    a.w = w;
    const quant::canonical_form form = quant::form_of(w.type);
    if (form == quant::canonical_form::floating || p_.options.activations == plan::activation_mode::f32)
      a.x = in.values.data();
    else
      a.q = &quantized(in, form);
    a.tokens = p_.rows_in(in);
    return a;
  }

  kernels::linear_args linear_args(const plan::op& o) {
    kernels::linear_args a = linear_args(weight(o.w[0]).matrix, slot(o.in[0]));
    a.bias = o.w[1] ? weight(o.w[1]).vector.data() : nullptr;
    a.scale = p_.plan.params[o.params].linear.scale;
    a.residual = o.in[1] != plan::no_slot ? slot(o.in[1]).values.data() : nullptr;
    a.y = slot(o.out[0]).values.data();
    return a;
  }

  static std::uint32_t blocks_of(const kernels::matrix_view& w) {
    return (w.rows + kernels::row_block - 1) / kernels::row_block;
  }
  static kernels::row_range block(const kernels::matrix_view& w, std::uint32_t index) {
    return {index * kernels::row_block, std::min(w.rows, (index + 1) * kernels::row_block)};
  }

  /// Operations on one input: all their blocks of rows are one job.
  void linears(std::span<const plan::op> ops) {
    constexpr std::size_t most = 8;
    while (ops.size() > most) {
      linears(ops.first(most));
      ops = ops.subspan(most);
    }
    std::array<kernels::linear_args, most> args;
    std::uint32_t blocks = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      args[i] = linear_args(ops[i]);
      blocks += blocks_of(args[i].w);
    }
    pool_.run(blocks, [&](std::uint32_t task) {
      std::size_t i = 0;
      for (; task >= blocks_of(args[i].w); ++i) task -= blocks_of(args[i].w);
      ops_.linear(args[i], block(args[i].w, task));
    });
    for (const plan::op& o : ops) slot(o.out[0]).invalidate();
  }

  /// An activation with a gate and without.
  struct activation_bodies {
    kernels::op_table::gate_body gate;
    kernels::op_table::activation_body alone;
  };
  activation_bodies bodies_of(const plan::op& o) const {
    switch (p_.plan.params[o.params].gate.act) {
      case plan::activation::silu:
        return {ops_.silu_gate, ops_.silu};
      case plan::activation::gelu_tanh:
        return {ops_.gelu_gate, ops_.gelu};
      case plan::activation::gelu_erf:
        break;
    }
    return {ops_.gelu_erf_gate, ops_.gelu_erf};
  }

  /// A pair of linear operations and the gate over them: each block of rows is gated where it was computed.
  void gated(std::span<const plan::op> ops) {
    const kernels::linear_args a = linear_args(ops[0]), b = linear_args(ops[1]);
    slot_buffer& out = slot(ops[2].out[0]);
    const auto act = bodies_of(ops[2]).gate;
    pool_.run(blocks_of(a.w), [&](std::uint32_t task) {
      const kernels::row_range rows = block(a.w, task);
      ops_.linear(a, rows);
      ops_.linear(b, rows);
      for (std::uint32_t t = 0; t < a.tokens; ++t) {
        const std::size_t at = std::size_t{t} * out.width + rows.begin;
        act(a.y + at, b.y + at, rows.end - rows.begin, out.values.data() + at);
      }
    });
    for (const plan::op& o : ops) slot(o.out[0]).invalidate();
  }

  void make_angles(angle_table& table, std::size_t t, bool long_rope) {
    const plan::rope_params& r = table.turns;
    const std::size_t half = r.inverse_frequency.size();
    const std::int32_t* position = p_.positions.data() + t;
    float magnitude = r.magnitude;
    if (r.growth != 0) {
      const float spans = static_cast<float>(static_cast<std::uint32_t>(*position) / r.growth_length);
      magnitude = magnitude * (1.0f + r.growth * log_f32(1.0f + spans));
    }
    ops_.angles({position, 1, long_rope && !r.long_frequency.empty() ? r.long_frequency : r.inverse_frequency,
                 magnitude, table.sine.data() + t * half, table.cosine.data() + t * half});
  }

  const angle_table& angles(plan::param_id params) {
    angle_table& table = p_.angles[p_.angles_of[params]];
    if (!table.valid) {
      for (const active_row& row : p_.active)
        each_token(row.tokens,
                   [&](std::uint32_t t) { make_angles(table, row.first + t, p_.batch[row.row].long_rope); });
      table.valid = true;
    }
    return table;
  }

  void rope(const plan::op& o) {
    const plan::rope_params& r = p_.plan.params[o.params].rope;
    const angle_table& table = angles(o.params);
    const auto half = static_cast<std::uint32_t>(table.turns.inverse_frequency.size());
    slot_buffer& x = slot(o.out[0]);
    each_token(p_.tokens, [&](std::uint32_t t) {
      ops_.rope({x.values.data() + std::size_t{t} * x.width, 1, r.heads, r.head_dim, half,
                 table.sine.data() + std::size_t{t} * half, table.cosine.data() + std::size_t{t} * half});
    });
    x.invalidate();
  }

  /// The pages of one group. Entries wholly behind its window are null.
  kernels::kv_view view(const active_row& row, const plan::op& o) const {
    const std::size_t table = std::size_t{row.row} * p_.plan.groups.size() + o.group;
    const std::uint32_t first = p_.first_page[table];
    return {std::span(p_.page_table).subspan(first, p_.first_page[table + 1] - first),
            plan::layout_of(p_.plan.groups[o.group], p_.options.keys, p_.options.values),
            p_.plan.layer_in_group[o.layer]};
  }

  void store(const plan::op& o) {
    const slot_buffer& k = slot(o.in[0]);
    const slot_buffer& v = slot(o.in[1]);
    for (const active_row& row : p_.active) {
      const std::uint32_t position = p_.batch[row.row].seq->length();
      each_token(row.tokens, [&](std::uint32_t t) {
        ops_.store_kv({k.values.data() + std::size_t{row.first + t} * k.width,
                       v.values.data() + std::size_t{row.first + t} * v.width, 1, position + t, view(row, o)});
      });
    }
  }

  /// Tokens and heads of one row that are attended together.
  void attend_part(const plan::op& o, const active_row& row, std::uint32_t token, std::uint32_t tokens,
                   std::uint32_t head_begin, std::uint32_t head_end) {
    const plan::attention_params& a = p_.plan.params[o.params].attention;
    const slot_buffer& q = slot(o.in[0]);
    slot_buffer& out = slot(o.out[0]);
    ops_.attention({q.values.data() + std::size_t{row.first + token} * q.width,
                    out.values.data() + std::size_t{row.first + token} * out.width, tokens,
                    p_.batch[row.row].seq->length() + token, a.heads, head_begin, head_end, a.scale, a.softcap,
                    p_.plan.groups[o.group].window, view(row, o)});
  }

  void attend(const plan::op& o) {
    const plan::attention_params& a = p_.plan.params[o.params].attention;
    const auto parts_of = [](const active_row& row) { return (row.tokens + attention_tokens - 1) / attention_tokens; };
    std::uint32_t parts = 0;
    for (const active_row& row : p_.active) parts += parts_of(row);
    // Heads that share keys are computed together, unless that leaves threads without work.
    const bool split = parts * a.kv_heads < 4 * pool_.threads();
    const std::uint32_t per_part = split ? a.heads : a.kv_heads, heads = a.heads / per_part;
    pool_.run(parts * per_part, [&](std::uint32_t task) {
      std::uint32_t part = task / per_part;
      const std::uint32_t head = task % per_part * heads;
      for (const active_row& row : p_.active) {
        if (part >= parts_of(row)) {
          part -= parts_of(row);
          continue;
        }
        const std::uint32_t token = part * attention_tokens;
        return attend_part(o, row, token, std::min(attention_tokens, row.tokens - token), head, head + heads);
      }
    });
    slot(o.out[0]).invalidate();
  }

  /// out = f(first, second), element by element.
  template <class F>
  void pairwise(const plan::op& o, const F& f) {
    const slot_buffer &first = slot(o.in[0]), &second = slot(o.in[1]);
    slot_buffer& out = slot(o.out[0]);
    each_token(p_.rows_in(first), [&](std::uint32_t t) {
      const std::size_t at = std::size_t{t} * first.width;
      f(first.values.data() + at, second.values.data() + at, first.width, out.values.data() + at);
    });
    out.invalidate();
  }

  void activate(const plan::op& o) {
    const auto act = bodies_of(o).alone;
    const slot_buffer& in = slot(o.in[0]);
    slot_buffer& out = slot(o.out[0]);
    each_token(p_.rows_in(in), [&](std::uint32_t t) {
      const std::size_t at = std::size_t{t} * in.width;
      act(in.values.data() + at, in.width, out.values.data() + at);
    });
    out.invalidate();
  }

  void output(const plan::op& o) {
    slot_buffer& in = slot(o.in[0]);
    kernels::linear_args a = linear_args(weight(o.w[0]).matrix, in);
    const plan::output_params& params = p_.plan.params[o.params].output;
    a.scale = params.scale;
    const kernels::quantized_rows* all = a.q;
    const std::uint32_t tile = static_cast<std::uint32_t>(p_.logits.size() / p_.plan.vocabulary);
    const bool g32 = quant::form_of(a.w.type) == quant::canonical_form::g32;
    std::uint32_t end = 0;
    for (std::uint32_t from = 0; next_logits(in, from, end); from += a.tokens) {
      a.tokens = std::min(tile, end - from);
      kernels::quantized_rows part;
      if (all != nullptr) {
        part = all->from(from, g32 ? quant::g32_elements : quant::g256_elements);
        a.q = &part;
      } else {
        a.x = in.values.data() + std::size_t{from} * in.width;
      }
      a.y = p_.logits.data();
      pool_.run(blocks_of(a.w), [&](std::uint32_t task) {
        const kernels::row_range rows = block(a.w, task);
        ops_.linear(a, rows);
        if (params.softcap == 0) return;
        for (std::uint32_t t = 0; t < a.tokens; ++t)
          ops_.softcap(a.y + std::size_t{t} * a.w.rows + rows.begin, rows.end - rows.begin, params.softcap);
      });
      deliver(from, a.tokens);
    }
  }

  /// Where the wanted positions from `from` on go on that yield logits: moves `from` there and `end` behind them. What
  /// lies between yields its hidden state and is handed over.
  bool next_logits(const slot_buffer& in, std::uint32_t& from, std::uint32_t& end) {
    if (from < end) return true;
    for (const active_row& row : p_.active) {
      if (row.first_wanted + row.wanted <= from || row.wanted == 0) continue;
      if (p_.batch[row.row].out != plan::want::hidden) {
        end = row.first_wanted + row.wanted;
        continue;
      }
      if (from < end) return true;
      deliver_hidden(in, row);
      from = row.first_wanted + row.wanted;
    }
    return from < end;
  }

  void deliver_hidden(const slot_buffer& in, const active_row& row) {
    for (std::uint32_t at = 0; at < row.wanted; ++at) {
      const std::span values(in.values.data() + std::size_t{row.first_wanted + at} * in.width, in.width);
      if (!std::ranges::all_of(values, [](float v) { return std::isfinite(v); }))
        p_.outcomes[row.row] = plan::outcome::numeric_fault;
      else
        sink_.take_hidden(row.row, at, values);
    }
  }

  /// Hands wanted positions [from, from + count) to the sink, row by row.
  void deliver(std::uint32_t from, std::uint32_t count) {
    for (const active_row& row : p_.active) {
      const std::uint32_t begin = std::max(from, row.first_wanted);
      const std::uint32_t end = std::min(from + count, row.first_wanted + row.wanted);
      for (std::uint32_t at = begin; at < end; ++at) {
        const std::span logits(p_.logits.data() + std::size_t{at - from} * p_.plan.vocabulary, p_.plan.vocabulary);
        if (!std::ranges::all_of(logits, [](float v) { return std::isfinite(v); }))
          p_.outcomes[row.row] = plan::outcome::numeric_fault;
        else
          sink_.take(row.row, at - row.first_wanted, logits);
      }
    }
  }

  /// Takes cancelled rows out of the step and closes the gaps in every slot, so that kernels see whole runs.
  void drop_cancelled() {
    std::uint32_t tokens = 0, wanted = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < p_.active.size(); ++i) {
      active_row& row = p_.active[i];
      const cancel_flag* flag = p_.batch[row.row].cancel;
      if (flag != nullptr && flag->is_set()) {
        p_.outcomes[row.row] = plan::outcome::cancelled;
        continue;
      }
      if (row.first != tokens || row.first_wanted != wanted) move_down(row, tokens, wanted);
      tokens += row.tokens;
      wanted += row.wanted;
      p_.active[kept] = row;
      ++kept;
    }
    if (kept == p_.active.size()) return;
    p_.active.resize(kept);
    for (angle_table& table : p_.angles) table.valid = false;
    p_.tokens = tokens;
    p_.wanted = wanted;
  }

  void move_down(active_row& row, std::uint32_t first, std::uint32_t first_wanted) {
    for (slot_buffer& s : p_.slots) {
      const bool all = s.rows == plan::row_set::all;
      const std::uint32_t from = all ? row.first : row.first_wanted, to = all ? first : first_wanted;
      const std::uint32_t count = all ? row.tokens : row.wanted;
      std::copy_n(s.values.data() + std::size_t{from} * s.width, std::size_t{count} * s.width,
                  s.values.data() + std::size_t{to} * s.width);
      s.invalidate();
    }
    std::copy_n(p_.positions.data() + row.first, row.tokens, p_.positions.data() + first);
    row.first = first;
    row.first_wanted = first_wanted;
  }

  const kernels::op_table& ops_;
  threads::compute_pool& pool_;
  const plan::tap_fn& tap_;
  cpu_program& p_;
  plan::row_sink& sink_;
};

result<void> check_rows(const cpu_program& p, std::span<const plan::batch_row> rows) {
  std::uint64_t tokens = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const plan::batch_row& row = rows[i];
    if (row.seq == nullptr || row.ids.empty())
      return fail(plan::fault::bad_row, "a batch row has no sequence or no ids");
    if (row.ids.size() > row.seq->context() - row.seq->length()) return fail(plan::fault::past_context);
    if (p.plan.most_positions != 0 && row.seq->length() + row.ids.size() > p.plan.most_positions)
      return fail(plan::fault::past_context, "the model knows " + std::to_string(p.plan.most_positions) + " positions");
    if (row.seq->groups() != p.plan.groups.size())
      return fail(plan::fault::bad_row, "a batch row has a sequence of another plan");
    if (!row.seq->has_room(static_cast<std::uint32_t>(row.ids.size())))
      return fail(plan::fault::no_pages, "a batch row was submitted without room for its ids");
    for (const token_id id : row.ids) {
      if (id < 0 || static_cast<std::uint32_t>(id) >= p.plan.vocabulary)
        return fail(plan::fault::bad_row, "token id " + std::to_string(id) + " is outside the vocabulary of " +
                                              std::to_string(p.plan.vocabulary));
    }
    for (std::size_t other = 0; other < i; ++other) {
      if (rows[other].seq == row.seq) return fail(plan::fault::bad_row, "a sequence appears twice in one batch");
    }
    tokens += row.ids.size();
  }
  if (tokens > p.options.max_batch_tokens)
    return fail(plan::fault::bad_row, "a batch of " + std::to_string(tokens) + " tokens exceeds the limit of " +
                                          std::to_string(p.options.max_batch_tokens));
  return success();
}

}  // namespace

cpu_executor::cpu_executor(const kernels::op_table& ops, std::shared_ptr<threads::compute_lane> lane)
    : ops_(ops), lane_(lane ? std::move(lane) : std::make_shared<threads::compute_lane>()) {}

result<plan::program_ptr> cpu_executor::prepare(const plan::plan& p, const plan::weight_table& weights,
                                                plan::page_memory& pages, const plan::program_options& options,
                                                const plan::prepare_watch& watch) {
  INFER_TRY(auto program, make_cpu_program(p, weights, pages, options, watch, ops_, *lane_));
  return plan::program_ptr(std::move(program));
}

result<plan::ticket> cpu_executor::submit(plan::program& on, std::span<const plan::batch_row> rows) {
  auto& p = static_cast<cpu_program&>(on);
  INFER_TRYV(check_rows(p, rows));
  p.batch.assign(rows.begin(), rows.end());
  p.outcomes.assign(rows.size(), plan::outcome::done);
  p.active.resize(rows.size());
  p.positions.clear();
  p.page_table.clear();
  p.first_page.clear();
  p.tokens = p.wanted = p.layers_run = 0;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    const plan::batch_row& from = rows[row];
    active_row& to = p.active[row];
    to.row = row;
    to.first = p.tokens;
    to.tokens = static_cast<std::uint32_t>(from.ids.size());
    to.first_wanted = p.wanted;
    to.wanted = from.out == plan::want::none ? 0 : from.out == plan::want::last ? 1 : to.tokens;
    for (std::uint32_t group = 0; group < p.plan.groups.size(); ++group) {
      p.first_page.push_back(static_cast<std::uint32_t>(p.page_table.size()));
      for (const page_index page : from.seq->pages(group))
        p.page_table.push_back(page == plan::no_page ? nullptr : p.pages->data(page));
    }
    for (std::uint32_t t = 0; t < to.tokens; ++t)
      p.positions.push_back(static_cast<std::int32_t>(from.seq->length() + t));
    p.tokens += to.tokens;
    p.wanted += to.wanted;
  }
  p.first_page.push_back(static_cast<std::uint32_t>(p.page_table.size()));
  p.in_flight = true;
  return plan::ticket{++p.tickets};
}

result<plan::step_result> cpu_executor::collect(plan::program& on, plan::ticket ticket, plan::row_sink& sink) {
  auto& p = static_cast<cpu_program&>(on);
  if (ticket.number != p.tickets || !std::exchange(p.in_flight, false))
    return fail(plan::fault::bad_row, "collect names a step that is not in flight");
  threads::set_float_environment();
  step(ops_, lane_->pool(), tap_, p, sink).run();
  for (std::size_t row = 0; row < p.batch.size(); ++row) {
    if (p.outcomes[row] == plan::outcome::done)
      p.batch[row].seq->commit(static_cast<std::uint32_t>(p.batch[row].ids.size()));
  }
  return plan::step_result{p.outcomes, p.layers_run};
}

}  // namespace infer::decode
