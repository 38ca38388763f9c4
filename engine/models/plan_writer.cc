// Blocks to operations.
#include "engine/models/plan_writer.h"

#include <algorithm>
#include <utility>

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
  writer(const family_descriptor& family, const hyper_values& h, const weight_index& index, const layer_lists& layers,
         const model_ropes& ropes, plan::activation activation)
      : family_(family), h_(h), index_(index), layers_(layers), ropes_(ropes) {
    stream_ = slot(h.size(hyper::width));
    normed_ = slot(h.size(hyper::width));
    q_ = slot(h.size(hyper::q_width));
    k_ = slot(h.size(hyper::kv_width));
    v_ = slot(h.size(hyper::kv_width));
    attended_ = slot(h.size(hyper::q_width));
    gate_ = slot(h.size(hyper::ffn_width));
    up_ = slot(h.size(hyper::ffn_width));
    const bool sandwiched = std::ranges::count(family.layer, block::post_norm, &block_row::block) > 0;
    mixed_ = sandwiched ? slot(h.size(hyper::width)) : plan::no_slot;
    const auto eps = static_cast<float>(h[hyper::norm_eps]);
    norm_params_ = param({.norm = {eps}});
    q_norm_params_ = param({.norm = {eps, parts(role::q_norm, hyper::q_width)}});
    k_norm_params_ = param({.norm = {eps, parts(role::k_norm, hyper::kv_width)}});
    embed_params_ = param({.embed = {static_cast<float>(h[hyper::embedding_scale])}});
    attention_params_ = attention_params(1);
    gate_params_ = param({.gate = {activation}});
    linear_params_ = param({});
    residual_params_ = param({.linear = {static_cast<float>(h[hyper::residual_scale])}});
    output_params_ =
        param({.output = {static_cast<float>(h[hyper::logit_factor]), static_cast<float>(h[hyper::final_softcap])}});
    position_params_ = param({.embed = {.scale = 1, .by_position = true}});
    global_ = rope_params(ropes.global);
    if (has_windows()) local_ = rope_params(ropes.local);
  }

  plan::plan write() {
    p_.layers = h_.size(hyper::layers);
    p_.width = h_.size(hyper::width);
    p_.vocabulary = h_.size(hyper::vocabulary);
    p_.trained_context = h_.size(hyper::context);
    p_.most_positions = ropes_.most_positions;
    p_.long_rope_from = ropes_.long_from;
    lay_out_state();
    write_embedding();
    for (layer_ = 0; layer_ < p_.layers; ++layer_) write_layer();
    write_head();
    return std::move(p_);
  }

 private:
  /// What differs between layers with a window and those without.
  struct layer_kind {
    param_id rope_q{}, rope_k{};
    std::uint16_t group = 0;
  };

  bool has_windows() const { return h_.size(hyper::window) > 0; }
  bool is_windowed(std::uint32_t layer) const { return layers_.windowed[layer]; }
  const layer_kind& kind() const { return is_windowed(layer_) ? local_ : global_; }
  /// Parts of a row of `width` values that a norm treats by themselves: heads where its weight is stored by heads, else
  /// as many as its weight fits into it.
  std::uint32_t parts(role norm, hyper width) const {
    const auto row = std::ranges::find(family_.tensors, norm, &tensor_row::role);
    if (row == family_.tensors.end()) return 1;
    return h_.size(width) / h_.size(row->by_heads ? hyper::head_dim : row->columns);
  }

  param_id attention_params(double divisor) {
    return param({.attention = {h_.size(hyper::heads), h_.size(hyper::kv_heads), h_.size(hyper::head_dim),
                                static_cast<float>(h_[hyper::attention_scale] / divisor),
                                static_cast<float>(h_[hyper::attention_softcap])}});
  }

  layer_kind rope_params(const rope_turns& turns) {
    plan::rope_params q{h_.size(hyper::heads), h_.size(hyper::head_dim), turns.inverse, turns.long_inverse,
                        turns.magnitude};
    plan::rope_params k = q;
    k.heads = h_.size(hyper::kv_heads);
    q.growth = static_cast<float>(h_[hyper::query_growth]);
    q.growth_length = static_cast<std::uint32_t>(ropes_.trained_context);
    layer_kind out;
    out.rope_q = param({.rope = std::move(q)});
    out.rope_k = param({.rope = std::move(k)});
    return out;
  }

  void write_embedding() {
    push({.kind = op_kind::embed, .params = embed_params_, .out = {stream_}, .w = {weight(role::token_embedding)}});
    const weight_ref positions = weight(role::position_embedding);
    if (!positions) return;
    p_.most_positions = h_.size(hyper::context);
    push({.kind = op_kind::embed, .params = position_params_, .out = {normed_}, .w = {positions}});
    push({.kind = op_kind::add, .in = {stream_, normed_}, .out = {stream_}});
  }

  /// One group for the layers without a window and one for those with, where there are any.
  void lay_out_state() {
    std::uint32_t counts[2] = {};
    for (std::uint32_t layer = 0; layer < p_.layers; ++layer)
      p_.layer_in_group.push_back(static_cast<std::uint16_t>(counts[is_windowed(layer)]++));
    const auto add = [&](layer_kind& of, plan::state_kind kind, std::uint32_t layers, std::uint32_t window) {
      if (layers == 0) return;
      of.group = static_cast<std::uint16_t>(p_.groups.size());
      p_.groups.push_back({kind, layers, window, h_.size(hyper::kv_heads), h_.size(hyper::head_dim)});
    };
    add(global_, plan::state_kind::paged, counts[0], 0);
    add(local_, plan::state_kind::windowed, counts[1], h_.size(hyper::window));
  }

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
          .params = residual == plan::no_slot ? linear_params_ : residual_params_,
          .in = {in, residual},
          .out = {out},
          .w = {layer_weight(w), layer_weight(bias)}});
  }

  void write_layer() {
    input_ = stream_;
    for (std::size_t i = 0; i < family_.layer.size(); ++i) {
      const block_row& row = family_.layer[i];
      // A block's last linear writes onto the stream itself when an `add` follows it.
      const bool onto_stream = i + 1 < family_.layer.size() && family_.layer[i + 1].block == block::add;
      switch (row.block) {
        case block::norm:
          norm(stream_, normed_, norm_params_, layer_weight(row.weight), layer_weight(row.bias));
          input_ = normed_;
          break;
        case block::attention:
          write_attention(onto_stream);
          break;
        case block::feed_forward:
          write_feed_forward(onto_stream);
          break;
        case block::post_norm:
          norm(mixed_, mixed_, norm_params_, layer_weight(row.weight));
          if (onto_stream) push({.kind = op_kind::add, .in = {mixed_, stream_}, .out = {stream_}});
          break;
        case block::add:
          break;
      }
    }
  }

  void norm(slot_id in, slot_id out, param_id params, weight_ref w, weight_ref bias = {}) {
    const op_kind kind = family_.norm == norm_kind::rms ? op_kind::rms_norm : op_kind::layer_norm;
    push({.kind = kind, .params = params, .in = {in}, .out = {out}, .w = {w, bias}});
  }

  void last_linear(bool onto_stream, slot_id in, role w, role bias) {
    linear(in, onto_stream ? stream_ : mixed_, w, bias, onto_stream ? stream_ : plan::no_slot);
  }

  void write_attention(bool onto_stream) {
    if (layer_ > 0 && h_[hyper::attention_falls] != 0) attention_params_ = attention_params(layer_ + 1.0);
    linear(input_, q_, role::q, role::q_bias);
    linear(input_, k_, role::k, role::k_bias);
    linear(input_, v_, role::v, role::v_bias);
    if (const weight_ref w = layer_weight(role::q_norm)) norm(q_, q_, q_norm_params_, w);
    if (const weight_ref w = layer_weight(role::k_norm)) norm(k_, k_, k_norm_params_, w);
    if (layers_.turned[layer_]) {
      push({.kind = op_kind::rope, .params = kind().rope_q, .in = {q_}, .out = {q_}});
      push({.kind = op_kind::rope, .params = kind().rope_k, .in = {k_}, .out = {k_}});
    }
    push({.kind = op_kind::store_kv, .group = kind().group, .params = attention_params_, .in = {k_, v_}});
    push({.kind = op_kind::attention,
          .group = kind().group,
          .params = attention_params_,
          .in = {q_},
          .out = {attended_}});
    last_linear(onto_stream, attended_, role::attention_output, role::attention_output_bias);
  }

  void write_feed_forward(bool onto_stream) {
    if (layer_weight(role::ffn_gate)) {
      linear(input_, gate_, role::ffn_gate, role::ffn_gate_bias);
      linear(input_, up_, role::ffn_up, role::ffn_up_bias);
      push({.kind = op_kind::gate, .params = gate_params_, .in = {gate_, up_}, .out = {gate_}});
    } else {
      linear(input_, gate_, role::ffn_up, role::ffn_up_bias);
      push({.kind = op_kind::activate, .params = gate_params_, .in = {gate_}, .out = {gate_}});
    }
    last_linear(onto_stream, gate_, role::ffn_down, role::ffn_down_bias);
  }

  void write_head() {
    const slot_id wanted = slot(h_.size(hyper::width), plan::row_set::wanted);
    push({.kind = op_kind::gather, .in = {stream_}, .out = {wanted}});
    norm(wanted, wanted, norm_params_, weight(role::output_norm), weight(role::output_norm_bias));
    const weight_ref head = weight(role::output_head);
    push({.kind = op_kind::output,
          .params = output_params_,
          .in = {wanted},
          .w = {head ? head : weight(role::token_embedding)}});
  }

  const family_descriptor& family_;
  const hyper_values& h_;
  const weight_index& index_;
  const layer_lists& layers_;
  const model_ropes& ropes_;
  plan::plan p_;
  std::uint32_t layer_ = 0;
  slot_id input_{};  // what the next block reads
  slot_id stream_{}, normed_{}, q_{}, k_{}, v_{}, attended_{}, gate_{}, up_{}, mixed_{};
  param_id norm_params_{}, q_norm_params_{}, k_norm_params_{}, embed_params_{}, attention_params_{}, gate_params_{},
      linear_params_{}, residual_params_{}, output_params_{}, position_params_{};
  layer_kind global_, local_;
};

}  // namespace

plan::plan write_plan(const family_descriptor& family, const hyper_values& hyper_params, const weight_index& index,
                      const layer_lists& layers, const model_ropes& ropes, plan::activation activation) {
  return writer(family, hyper_params, index, layers, ropes, activation).write();
}

}  // namespace infer::models
