// The plan of a model: which operations run in which order over which slots and states. Data only; every executor reads
// the same plan and fuses and packs for itself.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/core/ids.h"
#include "engine/core/tensor_type.h"

namespace infer::plan {

/// Enters fingerprints, sessions and goldens: changes whenever any result may change by a bit.
inline constexpr std::uint32_t numerics_version = 1;

using slot_id = std::uint16_t;
using param_id = std::uint16_t;
inline constexpr slot_id no_slot = std::numeric_limits<slot_id>::max();

enum class slot_kind : std::uint8_t { rows, routing, partials, ids };
/// Which of a step's positions a slot holds: all, or those whose output is wanted.
enum class row_set : std::uint8_t { all, wanted };

struct slot_desc {
  slot_kind kind = slot_kind::rows;
  std::uint32_t width = 0;  // f32 values per row
  row_set rows = row_set::all;
};

/// Index into the weight table; no location: each executor holds its own pack.
struct weight_ref {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t index = none;
  explicit operator bool() const { return index != none; }
};

enum class op_kind : std::uint8_t {
  embed,       // out[0] = row of w[0] for each id, or for each position (· scale)
  gather,      // out[0] (wanted rows) = those rows of in[0]
  rms_norm,    // out[0] = norm(in[0]) · w[0], each of `parts` parts of a row by itself
  layer_norm,  // the same with the mean taken off first (+ w[1] bias)
  linear,      // out[0] = w[0]·in[0] (+ w[1] bias) (· scale) (+ in[1] residual)
  rope,        // out[0] = in[0] turned in place by position
  store_kv,    // state of `group` += in[0] keys, in[1] values
  attention,   // out[0] = attention of queries in[0] over the state of `group`
  gate,        // out[0] = act(in[0]) · in[1]
  activate,    // out[0] = act(in[0])
  add,         // out[0] = in[0] + in[1]
  output,      // logits of the wanted rows = w[0]·in[0] (· scale), softcapped where there is a cap
};

enum class activation : std::uint8_t { silu, gelu_tanh, gelu_erf };

struct embed_params {
  float scale = 1;
  bool by_position = false;
};
struct norm_params {
  float eps = 0;
  std::uint32_t parts = 1;  // w[0] has the width of one, for all of them, or of a row
};
struct rope_params {
  std::uint32_t heads = 0, head_dim = 0;
  std::vector<float> inverse_frequency;  // rounded to f32 from f64; pairs (i, i + size)
  std::vector<float> long_frequency;     // of rows with `long_rope`; empty: the same
  float magnitude = 1;                   // multiplies sine and cosine
  // These are multiplied by 1 + growth·ln(1 + ⌊position / growth_length⌋), too; growth 0: not.
  float growth = 0;
  std::uint32_t growth_length = 0;
};
struct attention_params {
  std::uint32_t heads = 0, kv_heads = 0, head_dim = 0;
  float scale = 1;
  float softcap = 0;  // 0: none
};
struct linear_params {
  float scale = 1;
};
struct output_params {
  float scale = 1;
  float softcap = 0;  // 0: none
};
struct gate_params {
  activation act = activation::silu;
};

/// One field is meaningful, by the kind of the operation that refers to it.
struct op_params {
  embed_params embed;
  norm_params norm;
  rope_params rope;
  attention_params attention;
  linear_params linear;
  output_params output;
  gate_params gate;
};

struct op {
  op_kind kind{};
  std::uint16_t layer = 0;  // layers() for what follows the last one
  std::uint16_t group = 0;  // state group
  param_id params = 0;
  slot_id in[6] = {no_slot, no_slot, no_slot, no_slot, no_slot, no_slot};
  slot_id out[3] = {no_slot, no_slot, no_slot};
  weight_ref w[4];
};

/// `paged`: keys and values of every position; `windowed`: of the last `window` positions; `latent`: one vector of
/// `head_dim` values of the keys' type for each position; `recurrent`: `fixed_bytes` that every step rewrites.
enum class state_kind : std::uint8_t { paged, windowed, latent, recurrent };

/// One kind of state that a sequence holds, with its own page table.
struct state_group {
  state_kind kind = state_kind::paged;
  std::uint32_t layers = 0;  // how many layers keep their state in it
  std::uint32_t window = 0;  // positions visible; 0: all
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint64_t fixed_bytes = 0;  // of all layers together
};

/// Where a weight may live; the residency planner's input.
enum class placement : std::uint8_t { resident, per_layer, expert, host_only };

struct plan {
  std::vector<slot_desc> slots;
  std::vector<op> ops;
  std::vector<op_params> params;
  std::vector<state_group> groups;
  std::vector<std::uint16_t> layer_in_group;  // for each layer its index inside its group's pages
  std::uint32_t layers = 0;
  std::uint32_t width = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t trained_context = 0;
  std::uint32_t most_positions = 0;  // that the weights and frequencies are for; 0: any
  std::uint32_t long_rope_from = 0;  // sequences that may grow longer are rows with `long_rope`; 0: none
};

}  // namespace infer::plan
