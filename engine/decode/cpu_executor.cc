// Running a plan on the CPU, one operation after the other.
#include "engine/decode/cpu_executor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "engine/decode/cpu_program.h"
#include "engine/quant/blocks.h"

namespace infer::decode {
namespace {

/// One step over a program: what `collect` does between the first operation and the last.
class step {
 public:
  step(const kernels::op_table& ops, const plan::tap_fn& tap, cpu_program& p, plan::row_sink& sink)
      : ops_(ops), tap_(tap), p_(p), sink_(sink) {}

  void run() {
    std::uint32_t layer = std::numeric_limits<std::uint32_t>::max();
    for (const plan::op& o : p_.plan.ops) {
      if (o.layer != layer) {
        layer = o.layer;
        drop_cancelled();
        if (layer < p_.plan.layers) p_.layers_run += static_cast<std::uint32_t>(p_.active.size());
      }
      if (p_.active.empty()) return;
      run(o);
      if (tap_ && o.out[0] != plan::no_slot) {
        const slot_buffer& out = p_.slots[o.out[0]];
        tap_(o, p_.rows_in(out), out.width, std::span(out.values).first(std::size_t{p_.rows_in(out)} * out.width));
      }
    }
  }

 private:
  slot_buffer& slot(plan::slot_id id) { return p_.slots[id]; }
  const prepared_weight& weight(plan::weight_ref w) const { return p_.weights[w.index]; }

  void run(const plan::op& o) {
    switch (o.kind) {
      case plan::op_kind::embed:
        embed(o);
        break;
      case plan::op_kind::gather:
        gather(o);
        break;
      case plan::op_kind::rms_norm:
        norm(o);
        break;
      case plan::op_kind::linear:
        linear(o);
        break;
      case plan::op_kind::rope:
        rope(o);
        break;
      case plan::op_kind::store_kv:
        store(o);
        break;
      case plan::op_kind::attention:
        attend(o);
        break;
      case plan::op_kind::gate:
        gate(o);
        break;
      case plan::op_kind::output:
        output(o);
        break;
    }
  }

  void written(plan::slot_id id) { slot(id).g32_valid = slot(id).g256_valid = false; }

  void embed(const plan::op& o) {
    slot_buffer& out = slot(o.out[0]);
    for (const active_row& row : p_.active) {
      for (std::uint32_t t = 0; t < row.tokens; ++t)
        ops_.embed_row(weight(o.w[0]).matrix, static_cast<std::uint32_t>(p_.batch[row.row].ids[t]),
                       out.values.data() + std::size_t{row.first + t} * out.width);
    }
    written(o.out[0]);
  }

  void gather(const plan::op& o) {
    const slot_buffer& in = slot(o.in[0]);
    slot_buffer& out = slot(o.out[0]);
    for (const active_row& row : p_.active) {
      const float* from = in.values.data() + std::size_t{row.first + row.tokens - row.wanted} * in.width;
      std::copy_n(from, std::size_t{row.wanted} * in.width,
                  out.values.data() + std::size_t{row.first_wanted} * out.width);
    }
    written(o.out[0]);
  }

  void norm(const plan::op& o) {
    const slot_buffer& in = slot(o.in[0]);
    ops_.rms_norm(in.values.data(), weight(o.w[0]).vector.data(), p_.plan.params[o.params].norm.eps, p_.rows_in(in),
                  in.width, slot(o.out[0]).values.data());
    written(o.out[0]);
  }

  kernels::quantized_rows quantized(slot_buffer& in, quant::canonical_form form) {
    const bool g32 = form == quant::canonical_form::g32;
    kernels::quantized_rows q;
    q.codes = in.codes.data();
    q.scales = in.scales.data();
    q.sums_scaled = in.sums_scaled.data();
    q.sums = in.sums.data();
    q.groups = in.width / static_cast<std::uint32_t>(g32 ? quant::g32_elements : quant::g256_elements);
    bool& valid = g32 ? in.g32_valid : in.g256_valid;
    if (!valid) {
      (g32 ? ops_.quantize_g32 : ops_.quantize_g256)(in.values.data(), p_.rows_in(in), in.width, q);
      in.g32_valid = in.g256_valid = false;
      valid = true;
    }
    return q;
  }

  /// Fills in the activations in the form that the weight and the mode ask for; `q` must outlive the call.
  kernels::linear_args linear_args(const kernels::matrix_view& w, slot_buffer& in, kernels::quantized_rows& q) {
    kernels::linear_args a;
    a.w = w;
    const quant::canonical_form form = quant::form_of(w.type);
    if (form == quant::canonical_form::floating || p_.options.activations == plan::activation_mode::f32) {
      a.x = in.values.data();
    } else {
      q = quantized(in, form);
      a.q = &q;
    }
    return a;
  }

  void linear(const plan::op& o) {
    slot_buffer& in = slot(o.in[0]);
    kernels::quantized_rows q;
    kernels::linear_args a = linear_args(weight(o.w[0]).matrix, in, q);
    a.tokens = p_.rows_in(in);
    a.bias = o.w[1] ? weight(o.w[1]).vector.data() : nullptr;
    a.scale = p_.plan.params[o.params].linear.scale;
    a.residual = o.in[1] != plan::no_slot ? slot(o.in[1]).values.data() : nullptr;
    a.y = slot(o.out[0]).values.data();
    ops_.linear(a);
    written(o.out[0]);
  }

  void rope(const plan::op& o) {
    const plan::rope_params& r = p_.plan.params[o.params].rope;
    ops_.rope({slot(o.out[0]).values.data(), p_.tokens, r.heads, r.head_dim, p_.positions.data(), r.inverse_frequency,
               r.magnitude});
    written(o.out[0]);
  }

  /// The pages of one group. Entries wholly behind its window are null.
  kernels::kv_view view(const active_row& row, const plan::op& o) const {
    const plan::sequence& seq = *p_.batch[row.row].seq;
    std::size_t first = 0;
    for (std::uint32_t group = 0; group < o.group; ++group) first += seq.pages(group).size();
    return {std::span(row.pages).subspan(first, seq.pages(o.group).size()),
            plan::layout_of(p_.plan.groups[o.group], p_.options.keys, p_.options.values),
            p_.plan.layer_in_group[o.layer]};
  }

  void store(const plan::op& o) {
    const slot_buffer& k = slot(o.in[0]);
    const slot_buffer& v = slot(o.in[1]);
    for (const active_row& row : p_.active) {
      ops_.store_kv({k.values.data() + std::size_t{row.first} * k.width,
                     v.values.data() + std::size_t{row.first} * v.width, row.tokens, p_.batch[row.row].seq->length(),
                     view(row, o)});
    }
  }

  void attend(const plan::op& o) {
    const plan::attention_params& a = p_.plan.params[o.params].attention;
    const slot_buffer& q = slot(o.in[0]);
    slot_buffer& out = slot(o.out[0]);
    for (const active_row& row : p_.active) {
      ops_.attention({q.values.data() + std::size_t{row.first} * q.width,
                      out.values.data() + std::size_t{row.first} * out.width, row.tokens,
                      p_.batch[row.row].seq->length(), a.heads, a.scale, a.softcap, p_.plan.groups[o.group].window,
                      view(row, o)});
    }
    written(o.out[0]);
  }

  void gate(const plan::op& o) {
    const slot_buffer& in = slot(o.in[0]);
    ops_.silu_gate(in.values.data(), slot(o.in[1]).values.data(), std::size_t{p_.rows_in(in)} * in.width,
                   slot(o.out[0]).values.data());
    written(o.out[0]);
  }

  void output(const plan::op& o) {
    slot_buffer& in = slot(o.in[0]);
    const kernels::matrix_view& w = weight(o.w[0]).matrix;
    kernels::quantized_rows q;
    kernels::linear_args a = linear_args(w, in, q);
    a.scale = p_.plan.params[o.params].linear.scale;
    const std::uint32_t tile = static_cast<std::uint32_t>(p_.logits.size() / p_.plan.vocabulary);
    for (std::uint32_t from = 0; from < p_.wanted; from += tile) {
      a.tokens = std::min(tile, p_.wanted - from);
      a.x = a.q == nullptr ? in.values.data() + std::size_t{from} * in.width : nullptr;
      kernels::quantized_rows part = q;
      if (a.q != nullptr) {
        const std::size_t groups = std::size_t{from} * q.groups;
        part.codes += std::size_t{from} * in.width;
        part.scales += groups;
        part.sums_scaled += groups;
        part.sums += groups * quant::g256_subs;
        a.q = &part;
      }
      a.y = p_.logits.data();
      ops_.linear(a);
      deliver(from, a.tokens);
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
      if (kept != i) p_.active[kept] = std::move(row);
      ++kept;
    }
    p_.active.resize(kept);
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
      s.g32_valid = s.g256_valid = false;
    }
    std::copy_n(p_.positions.data() + row.first, row.tokens, p_.positions.data() + first);
    row.first = first;
    row.first_wanted = first_wanted;
  }

  const kernels::op_table& ops_;
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

result<plan::program_ptr> cpu_executor::prepare(const plan::plan& p, const plan::weight_table& weights,
                                                plan::page_memory& pages, const plan::program_options& options) {
  INFER_TRY(auto program, make_cpu_program(p, weights, pages, options));
  return plan::program_ptr(std::move(program));
}

result<plan::ticket> cpu_executor::submit(plan::program& on, std::span<const plan::batch_row> rows) {
  auto& p = static_cast<cpu_program&>(on);
  INFER_TRYV(check_rows(p, rows));
  p.batch.assign(rows.begin(), rows.end());
  p.outcomes.assign(rows.size(), plan::outcome::done);
  p.active.resize(rows.size());
  p.positions.clear();
  p.tokens = p.wanted = p.layers_run = 0;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    const plan::batch_row& from = rows[row];
    active_row& to = p.active[row];
    to.row = row;
    to.first = p.tokens;
    to.tokens = static_cast<std::uint32_t>(from.ids.size());
    to.first_wanted = p.wanted;
    to.wanted = from.out == plan::want::none ? 0 : from.out == plan::want::last ? 1 : to.tokens;
    to.pages.clear();
    for (std::uint32_t group = 0; group < from.seq->groups(); ++group) {
      for (const page_index page : from.seq->pages(group))
        to.pages.push_back(page == plan::no_page ? nullptr : p.pages->data(page));
    }
    for (std::uint32_t t = 0; t < to.tokens; ++t)
      p.positions.push_back(static_cast<std::int32_t>(from.seq->length() + t));
    p.tokens += to.tokens;
    p.wanted += to.wanted;
  }
  return plan::ticket{++p.tickets};
}

result<plan::step_result> cpu_executor::collect(plan::program& on, plan::ticket ticket, plan::row_sink& sink) {
  auto& p = static_cast<cpu_program&>(on);
  if (ticket.number != p.tickets || p.outcomes.empty())
    return fail(plan::fault::bad_row, "collect names a step that is not in flight");
  step(ops_, tap_, p, sink).run();
  for (std::size_t row = 0; row < p.batch.size(); ++row) {
    if (p.outcomes[row] == plan::outcome::done)
      p.batch[row].seq->commit(static_cast<std::uint32_t>(p.batch[row].ids.size()));
  }
  return plan::step_result{std::exchange(p.outcomes, {}), p.layers_run};
}

}  // namespace infer::decode
