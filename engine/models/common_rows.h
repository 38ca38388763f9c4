// Rows that most families' tables have word for word.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "engine/models/descriptor.h"

namespace infer::models::rows {

inline constexpr auto resident = plan::placement::resident;
inline constexpr auto per_layer = plan::placement::per_layer;
inline constexpr auto canonical = plan::row_order::canonical;
inline constexpr auto paired = plan::row_order::pairs_to_halves;

template <int value>
double constant(const hyper_values&) {
  return value;
}
template <hyper field>
double same_as(const hyper_values& h) {
  return h[field];
}
template <hyper a, hyper b>
double product(const hyper_values& h) {
  return h[a] * h[b];
}
template <hyper a, hyper b>
double sum(const hyper_values& h) {
  return h[a] + h[b];
}
inline double width_by_heads(const hyper_values& h) {
  return h.size(hyper::heads) == 0 ? 0.0 : static_cast<double>(h.size(hyper::width) / h.size(hyper::heads));
}
inline double one_by_root_of_head(const hyper_values& h) {
  return 1.0 / std::sqrt(h[hyper::head_dim]);
}
inline double root_of_width(const hyper_values& h) {
  return std::sqrt(h[hyper::width]);
}

inline constexpr hyper_row width{hyper::width, "embedding_length", nullptr, 1, 1 << 20};
inline constexpr hyper_row layers{hyper::layers, "block_count", nullptr, 1, 1024};
inline constexpr hyper_row ffn_width{hyper::ffn_width, "feed_forward_length", nullptr, 1, 1 << 22};
inline constexpr hyper_row context{hyper::context, "context_length", nullptr, 1, 1 << 28};
inline constexpr hyper_row heads{hyper::heads, "attention.head_count", nullptr, 1, 4096};
inline constexpr hyper_row kv_heads{hyper::kv_heads, "attention.head_count_kv", same_as<hyper::heads>, 1, 4096};
inline constexpr hyper_row head_dim{hyper::head_dim, "attention.key_length", width_by_heads, 2, 512};
inline constexpr hyper_row q_width{hyper::q_width, "", product<hyper::heads, hyper::head_dim>};
inline constexpr hyper_row kv_width{hyper::kv_width, "", product<hyper::kv_heads, hyper::head_dim>};
inline constexpr hyper_row rope_dims{hyper::rope_dims, "rope.dimension_count", same_as<hyper::head_dim>, 2, 512};
inline constexpr hyper_row rope_base{hyper::rope_base, "rope.freq_base", constant<10000>, 1, 1e12};
inline constexpr hyper_row norm_eps{hyper::norm_eps, "attention.layer_norm_rms_epsilon", nullptr, 0, 1};
inline constexpr hyper_row layer_norm_eps{hyper::norm_eps, "attention.layer_norm_epsilon", nullptr, 0, 1};
inline constexpr hyper_row attention_scale{hyper::attention_scale, "", one_by_root_of_head};
inline constexpr hyper_row window{hyper::window, "attention.sliding_window", constant<0>, 0, 1 << 28};
inline constexpr hyper_row window_in_3_of_4{hyper::window_period, "attention.sliding_window_pattern", constant<4>, 0,
                                            1024};
/// A period that no model's layers reach: all of them have the window, where there is one.
inline constexpr hyper_row window_in_all{hyper::window_period, "", constant<1 << 20>};
inline constexpr hyper_row same_local_rope{hyper::local_rope_base, "rope.freq_base_swa", same_as<hyper::rope_base>, 1,
                                           1e12};

/// `rows`, and `more` after them.
template <class Row, std::size_t count, class... More>
constexpr std::array<Row, count + sizeof...(More)> with(const std::array<Row, count>& rows, const More&... more) {
  std::array<Row, count + sizeof...(More)> out{};
  std::size_t at = 0;
  for (const Row& row : rows) out[at++] = row;
  ((out[at++] = more), ...);
  return out;
}

/// What nearly every decoder has, and `more`.
inline constexpr std::array shape{width,    layers,  ffn_width, context,   heads,    kv_heads,
                                  head_dim, q_width, kv_width,  rope_dims, rope_base};
template <class... More>
constexpr auto shape_and(const More&... more) {
  return with(shape, more...);
}

inline constexpr tensor_row token_embedding{role::token_embedding, "token_embd.weight", hyper::vocabulary,
                                            hyper::width,          allowed::any_type,   resident};
inline constexpr tensor_row output_norm{role::output_norm, "output_norm.weight", hyper::one,
                                        hyper::width,      allowed::floats,      resident};
/// Absent where the embedding is the head.
inline constexpr tensor_row output_head{
    role::output_head, "output.weight", hyper::vocabulary, hyper::width, allowed::any_type, resident, true};

/// What rope frequencies are divided by, one value for each pair.
constexpr tensor_row divisors(models::role role, std::string_view name) {
  return {role, name, hyper::one, hyper::rope_dims, allowed::floats, resident, true, canonical, true};
}
inline constexpr tensor_row rope_divisors = divisors(role::rope_divisors, "rope_freqs.weight");
inline constexpr tensor_row rope_short_divisors = divisors(role::rope_short_divisors, "rope_factors_short.weight");
inline constexpr tensor_row rope_long_divisors = divisors(role::rope_long_divisors, "rope_factors_long.weight");

constexpr tensor_row q(plan::row_order order = canonical) {
  return {role::q, "blk.{layer}.attn_q.weight", hyper::q_width, hyper::width, allowed::any_type, per_layer, false,
          order};
}
constexpr tensor_row k(plan::row_order order = canonical) {
  return {role::k, "blk.{layer}.attn_k.weight", hyper::kv_width, hyper::width, allowed::any_type, per_layer, false,
          order};
}
inline constexpr tensor_row v{role::v, "blk.{layer}.attn_v.weight", hyper::kv_width, hyper::width};
inline constexpr tensor_row attention_output{role::attention_output, "blk.{layer}.attn_output.weight", hyper::width,
                                             hyper::q_width};
inline constexpr tensor_row ffn_gate{role::ffn_gate, "blk.{layer}.ffn_gate.weight", hyper::ffn_width, hyper::width};
inline constexpr tensor_row ffn_up{role::ffn_up, "blk.{layer}.ffn_up.weight", hyper::ffn_width, hyper::width};
inline constexpr tensor_row ffn_down{role::ffn_down, "blk.{layer}.ffn_down.weight", hyper::width, hyper::ffn_width};

/// A vector of every layer: a norm's weight or a bias.
constexpr tensor_row vector(models::role role, std::string_view name, hyper columns, bool optional = false,
                            plan::row_order order = canonical) {
  return {role, name, hyper::one, columns, allowed::floats, per_layer, optional, order};
}
inline constexpr tensor_row attention_norm = vector(role::attention_norm, "blk.{layer}.attn_norm.weight", hyper::width);
inline constexpr tensor_row ffn_norm = vector(role::ffn_norm, "blk.{layer}.ffn_norm.weight", hyper::width);
inline constexpr tensor_row post_attention_norm =
    vector(role::post_attention_norm, "blk.{layer}.post_attention_norm.weight", hyper::width);
inline constexpr tensor_row post_ffn_norm =
    vector(role::post_ffn_norm, "blk.{layer}.post_ffw_norm.weight", hyper::width);
constexpr tensor_row q_norm(hyper columns) {
  return vector(role::q_norm, "blk.{layer}.attn_q_norm.weight", columns);
}
constexpr tensor_row k_norm(hyper columns) {
  return vector(role::k_norm, "blk.{layer}.attn_k_norm.weight", columns);
}
/// The weight of a norm that has another one for each head.
constexpr tensor_row norm_by_heads(tensor_row row, plan::row_order order) {
  row.order = order;
  row.optional = row.by_heads = true;
  return row;
}
constexpr tensor_row q_bias(bool optional, plan::row_order order = canonical) {
  return vector(role::q_bias, "blk.{layer}.attn_q.bias", hyper::q_width, optional, order);
}
constexpr tensor_row k_bias(bool optional, plan::row_order order = canonical) {
  return vector(role::k_bias, "blk.{layer}.attn_k.bias", hyper::kv_width, optional, order);
}
constexpr tensor_row v_bias(bool optional) {
  return vector(role::v_bias, "blk.{layer}.attn_v.bias", hyper::kv_width, optional);
}

/// Tensors of a decoder with a gate, and with the biases that its files have.
template <plan::row_order order>
inline constexpr std::array plain_tensors{
    token_embedding,
    output_norm,
    output_head,
    rope_divisors,
    attention_norm,
    q(order),
    k(order),
    v,
    attention_output,
    q_bias(true, order),
    k_bias(true, order),
    v_bias(true),
    vector(role::attention_output_bias, "blk.{layer}.attn_output.bias", hyper::width, true),
    ffn_norm,
    ffn_gate,
    ffn_up,
    ffn_down,
    vector(role::ffn_gate_bias, "blk.{layer}.ffn_gate.bias", hyper::ffn_width, true),
    vector(role::ffn_up_bias, "blk.{layer}.ffn_up.bias", hyper::ffn_width, true),
    vector(role::ffn_down_bias, "blk.{layer}.ffn_down.bias", hyper::width, true),
};

/// h += attention(norm h); h += ffn(norm h).
inline constexpr block_row normed_before[]{
    {block::norm, role::attention_norm}, {block::attention},    {block::add},
    {block::norm, role::ffn_norm},       {block::feed_forward}, {block::add},
};

/// The same with norms that have a bias.
inline constexpr block_row normed_before_with_bias[]{
    {block::norm, role::attention_norm, role::attention_norm_bias},
    {block::attention},
    {block::add},
    {block::norm, role::ffn_norm, role::ffn_norm_bias},
    {block::feed_forward},
    {block::add},
};

/// With n = norm h: h += attention(n) + ffn(n).
inline constexpr block_row side_by_side[]{
    {block::norm, role::attention_norm}, {block::attention}, {block::add}, {block::feed_forward}, {block::add},
};

/// h += norm(attention h); h += norm(ffn h).
inline constexpr block_row normed_after[]{
    {block::attention},    {block::post_norm, role::post_attention_norm}, {block::add},
    {block::feed_forward}, {block::post_norm, role::post_ffn_norm},       {block::add},
};

/// For both blocks: h += norm(block(norm h)).
inline constexpr block_row normed_around[]{
    {block::norm, role::attention_norm},
    {block::attention},
    {block::post_norm, role::post_attention_norm},
    {block::add},
    {block::norm, role::ffn_norm},
    {block::feed_forward},
    {block::post_norm, role::post_ffn_norm},
    {block::add},
};

/// Tensors of a decoder whose blocks stand side by side.
inline constexpr std::array side_by_side_tensors{
    token_embedding,
    output_norm,
    output_head,
    attention_norm,
    q(paired),
    k(paired),
    v,
    q_bias(true, paired),
    k_bias(true, paired),
    v_bias(true),
    vector(role::attention_output_bias, "blk.{layer}.attn_output.bias", hyper::width, true),
    attention_output,
    ffn_gate,
    ffn_up,
    ffn_down,
};

}  // namespace infer::models::rows
