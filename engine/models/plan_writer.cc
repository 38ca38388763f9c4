// Blocks to operations.
#include "engine/models/plan_writer.h"

#include <cmath>
#include <vector>

#include "engine/formats/fault.h"
#include "engine/quant/dequantize.h"

namespace infer::models {
namespace {

using plan::op;
using plan::op_kind;
using plan::op_params;
using plan::param_id;
using plan::slot_id;
using plan::weight_ref;

class writer {
 public:
  writer(const family_descriptor& family, const hyper_values& h, const weight_index& index,
         std::vector<float> frequencies)
      : family_(family), h_(h), index_(index) {
    stream_ = slot(h.size(hyper::width));
    normed_ = slot(h.size(hyper::width));
    q_ = slot(h.size(hyper::q_width));
    k_ = slot(h.size(hyper::kv_width));
    v_ = slot(h.size(hyper::kv_width));
    attended_ = slot(h.size(hyper::q_width));
    gate_ = slot(h.size(hyper::ffn_width));
    up_ = slot(h.size(hyper::ffn_width));
    op_params norm, rope_q, rope_k, attention;
    norm.norm.eps = static_cast<float>(h[hyper::norm_eps]);
    rope_q.rope = {h.size(hyper::heads), h.size(hyper::head_dim), frequencies, 1.0f};
    rope_k.rope = {h.size(hyper::kv_heads), h.size(hyper::head_dim), std::move(frequencies), 1.0f};
    attention.attention = {h.size(hyper::heads), h.size(hyper::kv_heads), h.size(hyper::head_dim),
                           static_cast<float>(1.0 / std::sqrt(h[hyper::head_dim])), 0.0f};
    op_params gate;
    gate.gate.act = family.activation;
    norm_params_ = param(norm);
    rope_q_params_ = param(rope_q);
    rope_k_params_ = param(rope_k);
    attention_params_ = param(attention);
    gate_params_ = param(gate);
    linear_params_ = param({});
  }

  plan::plan write() {
    const std::uint32_t layers = h_.size(hyper::layers);
    p_.layers = layers;
    p_.width = h_.size(hyper::width);
    p_.vocabulary = h_.size(hyper::vocabulary);
    p_.trained_context = h_.size(hyper::context);
    p_.groups.push_back({plan::state_kind::paged, layers, 0, h_.size(hyper::kv_heads), h_.size(hyper::head_dim)});
    for (std::uint32_t layer = 0; layer < layers; ++layer)
      p_.layer_in_group.push_back(static_cast<std::uint16_t>(layer));
    push({.kind = op_kind::embed, .out = {stream_}, .w = {weight(role::token_embedding)}});
    for (layer_ = 0; layer_ < layers; ++layer_) write_layer();
    write_head();
    return std::move(p_);
  }

 private:
  slot_id slot(std::uint32_t width, plan::row_set rows = plan::row_set::all) {
    p_.slots.push_back({plan::slot_kind::rows, width, rows});
    return static_cast<slot_id>(p_.slots.size() - 1);
  }

  param_id param(op_params params) {
    p_.params.push_back(std::move(params));
    return static_cast<param_id>(p_.params.size() - 1);
  }

  weight_ref weight(role r) const { return find(r, 0); }
  weight_ref layer_weight(role r) const { return find(r, layer_); }
  weight_ref find(role r, std::uint32_t layer) const {
    const auto at = index_.find({r, layer});
    return at == index_.end() ? weight_ref{} : weight_ref{at->second};
  }

  void push(op o) {
    o.layer = static_cast<std::uint16_t>(layer_);
    p_.ops.push_back(o);
  }

  void linear(slot_id in, slot_id out, role w, role bias, slot_id residual = plan::no_slot) {
    push({.kind = op_kind::linear,
          .params = linear_params_,
          .in = {in, residual},
          .out = {out},
          .w = {layer_weight(w), layer_weight(bias)}});
  }

  void write_layer() {
    // A block's last linear writes onto the stream itself when an `add` follows it.
    for (std::size_t i = 0; i < family_.layer.size(); ++i) {
      const block_row& row = family_.layer[i];
      switch (row.block) {
        case block::norm:
          push({.kind = op_kind::rms_norm,
                .params = norm_params_,
                .in = {stream_},
                .out = {normed_},
                .w = {layer_weight(row.weight)}});
          break;
        case block::attention:
          write_attention();
          break;
        case block::feed_forward:
          write_feed_forward();
          break;
        case block::add:
          break;
      }
    }
  }

  void write_attention() {
    linear(normed_, q_, role::q, role::q_bias);
    linear(normed_, k_, role::k, role::k_bias);
    linear(normed_, v_, role::v, role::v_bias);
    if (family_.rope == rope_kind::halves) {
      push({.kind = op_kind::rope, .params = rope_q_params_, .in = {q_}, .out = {q_}});
      push({.kind = op_kind::rope, .params = rope_k_params_, .in = {k_}, .out = {k_}});
    }
    push({.kind = op_kind::store_kv, .params = attention_params_, .in = {k_, v_}});
    push({.kind = op_kind::attention, .params = attention_params_, .in = {q_}, .out = {attended_}});
    linear(attended_, stream_, role::attention_output, role::attention_output_bias, stream_);
  }

  void write_feed_forward() {
    linear(normed_, gate_, role::ffn_gate, role::ffn_gate_bias);
    linear(normed_, up_, role::ffn_up, role::ffn_up_bias);
    push({.kind = op_kind::gate, .params = gate_params_, .in = {gate_, up_}, .out = {gate_}});
    linear(gate_, stream_, role::ffn_down, role::ffn_down_bias, stream_);
  }

  void write_head() {
    const slot_id wanted = slot(h_.size(hyper::width), plan::row_set::wanted);
    push({.kind = op_kind::gather, .in = {stream_}, .out = {wanted}});
    push({.kind = op_kind::rms_norm,
          .params = norm_params_,
          .in = {wanted},
          .out = {wanted},
          .w = {weight(role::output_norm)}});
    const weight_ref head = weight(role::output_head);
    push({.kind = op_kind::output,
          .params = linear_params_,
          .in = {wanted},
          .w = {head ? head : weight(role::token_embedding)}});
  }

  const family_descriptor& family_;
  const hyper_values& h_;
  const weight_index& index_;
  plan::plan p_;
  std::uint32_t layer_ = 0;
  slot_id stream_{}, normed_{}, q_{}, k_{}, v_{}, attended_{}, gate_{}, up_{};
  param_id norm_params_{}, rope_q_params_{}, rope_k_params_{}, attention_params_{}, gate_params_{}, linear_params_{};
};

/// base^(−2i/d), divided by the linear factor and by the file's divisors, in f64, rounded to f32 at the end.
result<std::vector<float>> inverse_frequencies(const hyper_values& h, const plan::weight_source* divisors) {
  const std::uint32_t pairs = h.size(hyper::rope_dims) / 2;
  std::vector<float> by(pairs, 1.0f);
  if (divisors != nullptr) {
    INFER_TRYV(quant::dequantize(divisors->type, divisors->bytes, by));
  }
  std::vector<float> out(pairs);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    if (!std::isfinite(by[i]) || by[i] <= 0)
      return fail(formats::fault::malformed, "rope_freqs.weight holds a divisor that is not a positive number");
    const double inverse = std::pow(h[hyper::rope_base], -2.0 * i / h[hyper::rope_dims]);
    out[i] = static_cast<float>(inverse / h[hyper::rope_factor] / static_cast<double>(by[i]));
  }
  return out;
}

}  // namespace

result<plan::plan> write_plan(const family_descriptor& family, const hyper_values& hyper_params,
                              const weight_index& index, const plan::weight_table& weights) {
  const auto divisors = index.find({role::rope_divisors, 0});
  INFER_TRY(auto frequencies,
            inverse_frequencies(hyper_params, divisors == index.end() ? nullptr : &weights.weights[divisors->second]));
  return writer(family, hyper_params, index, std::move(frequencies)).write();
}

}  // namespace infer::models
