// What a model family is, as data. A family is one file with one constant of this type; the builder turns it and a
// model file into a plan. No code asks which family it is looking at.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "engine/plan/plan.h"
#include "engine/plan/weights.h"

namespace infer::models {

/// Hyperparameters. Sizes are read from the file, never written as code.
enum class hyper : std::uint8_t {
  one,   // the constant 1, for vectors
  zero,  // the constant 0, for first rows
  width,
  layers,
  ffn_width,
  heads,
  kv_heads,
  head_dim,
  vocabulary,
  context,
  q_width,
  kv_width,  // derived: heads · head_dim
  rope_dims,
  rope_base,
  norm_eps,
  attention_scale,
  embedding_scale,
  residual_scale,     // multiplies what a block without a post_norm adds to the stream
  logit_scale,        // what the file names so
  logit_factor,       // multiplies the logits
  attention_softcap,  // of scores, 0: none
  attention_falls,    // 1: the attention scale of layer i, from 0, is divided by i + 1
  final_softcap,      // of logits, 0: none
  window,             // positions that windowed layers see
  window_period,      // of so many layers all but the last are windowed
  local_rope_base,    // of windowed layers
  query_growth,       // β of q · (1 + β·ln(1 + ⌊position / trained positions before scaling⌋)); 0: none
  no_rope_period,     // of so many layers the last does not turn queries and keys; 0: all turn them
  qkv_width,          // derived, where one tensor holds q, k and v: rows of it, and the first of v
  v_first_row,
  gate_up_width,  // derived, where one tensor holds gate and up: rows of it
  count_
};

/// Values of one model, by hyperparameter.
struct hyper_values {
  std::array<double, static_cast<std::size_t>(hyper::count_)> values{};
  double operator[](hyper h) const { return values[static_cast<std::size_t>(h)]; }
  double& operator[](hyper h) { return values[static_cast<std::size_t>(h)]; }
  std::uint32_t size(hyper h) const { return static_cast<std::uint32_t>((*this)[h]); }
};

/// Where a hyperparameter comes from: a metadata key (without the architecture's prefix), else in a folder of the hub
/// what hub_defaults.h has for the key, else a formula over those above it in the table, else it must be there.
struct hyper_row {
  hyper field{};
  std::string_view key;                                // empty: derived only
  double (*otherwise)(const hyper_values&) = nullptr;  // null: required
  double low = 0, high = std::numeric_limits<double>::max();
};

enum class role : std::uint8_t {
  token_embedding,
  position_embedding,
  output_head,
  output_norm,
  output_norm_bias,
  rope_divisors,
  rope_short_divisors,
  rope_long_divisors,
  attention_norm,
  attention_norm_bias,
  q_norm,
  k_norm,
  post_attention_norm,
  q,
  k,
  v,
  attention_output,
  q_bias,
  k_bias,
  v_bias,
  attention_output_bias,
  ffn_norm,
  ffn_norm_bias,
  post_ffn_norm,
  ffn_gate,
  ffn_up,
  ffn_down,
  ffn_gate_bias,
  ffn_up_bias,
  ffn_down_bias,
};

enum class allowed : std::uint8_t { any_type, floats };

/// One tensor of the family. `{layer}` in the name is replaced by the layer's number.
struct tensor_row {
  models::role role{};
  std::string_view name;
  hyper rows = hyper::one, columns = hyper::one;
  models::allowed types = allowed::any_type;
  plan::placement place = plan::placement::per_layer;
  bool optional = false;
  plan::row_order order = plan::row_order::canonical;
  bool half_columns = false;  // the vector has columns / 2 values
  bool by_heads = false;      // the vector's values of each head are a row in the file
  // Where `rows` are a part of a tensor; zero: the whole. Of vectors both count columns.
  hyper first_row = hyper::zero, rows_in_file = hyper::zero;
};

enum class block : std::uint8_t { norm, attention, feed_forward, post_norm, add };

/// One step of a layer: `norm` reads the residual stream, `attention` and `feed_forward` read the last norm of the
/// layer, or the stream where it has had none; `post_norm` norms the last result in place, `add` puts the last
/// result back on the stream. `feed_forward` is gated where the family's tensors have a gate.
struct block_row {
  models::block block{};
  models::role weight = role::attention_norm;     // of a norm or post_norm
  models::role bias = role::attention_norm_bias;  // of a norm, where the family's tensors have it
};

/// Which layers turn queries and keys: where_windowed means those with a window, or all where no layer has one.
enum class rope_kind : std::uint8_t { none, halves, where_windowed };
enum class norm_kind : std::uint8_t { rms, layer };  // layer: with the mean taken off

/// Where rows of a tensor of GGUF's naming lie in the one of the hub's: in all of it, or among the queries, keys or
/// values of each key/value head in turn.
enum class hub_rows : std::uint8_t { all, grouped_q, grouped_k, grouped_v };

/// The hub's name of a tensor that has another than hub_names.cc says. Both without layer and suffix.
struct hub_name {
  std::string_view gguf, hub;
  hub_rows rows = hub_rows::all;
};

/// How the family's folders on the hub differ from its GGUF files.
struct hub_dialect {
  std::span<const std::string_view> model_types;  // model_type of config.json; none: the family has no folders
  std::span<const hub_name> names = {};
  std::string_view layers = "layers";
  bool tied = false;              // whether a configuration that does not say means that the embedding is the head
  bool norms_around_one = false;  // weights of norms are stored less 1
  bool paired_rows = false;       // rows of q and k lie in pairs as in GGUF
  bool transposed = false;        // matrices of layers are stored [in, out]
  bool gelu_is_tanh = false;      // an activation called "gelu" is the tanh form
};

struct family_descriptor {
  std::string_view name;
  std::span<const std::string_view> architectures;  // general.architecture values
  std::string_view source;
  std::span<const hyper_row> hyper;
  std::span<const tensor_row> tensors;
  std::span<const block_row> layer;
  rope_kind rope = rope_kind::halves;
  plan::activation activation = plan::activation::silu;  // where the file does not say
  norm_kind norm = norm_kind::rms;
  /// Whether rope scaling is also for layers with a window, where the file says nothing of theirs.
  bool scales_windowed_rope = true;
  /// Whether a folder that does not list its layers has the window in those that turn nothing, and no others.
  bool windows_unturned = false;
  hub_dialect hub = {};
};

/// Every family this program knows, in families.cc.
std::span<const family_descriptor* const> all_families();
/// The family of an architecture name, or null.
const family_descriptor* find_family(std::string_view architecture);
/// The family of a model_type of the hub, or null.
const family_descriptor* find_hub_family(std::string_view model_type);

}  // namespace infer::models
