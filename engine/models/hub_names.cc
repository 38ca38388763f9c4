// Two tables and a look into the family's own.
#include "engine/models/hub_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace infer::models {
namespace {

double one_by_root(double x) {
  return 1.0 / std::sqrt(x);
}

constexpr std::array keys{
    hub_key{"embedding_length", "hidden_size"},
    hub_key{"embedding_length", "n_embd"},
    hub_key{"block_count", "num_hidden_layers"},
    hub_key{"block_count", "n_layer"},
    hub_key{"feed_forward_length", "intermediate_size"},
    hub_key{"feed_forward_length", "n_inner"},
    hub_key{"context_length", "max_position_embeddings"},
    hub_key{"context_length", "n_positions"},
    hub_key{"attention.head_count", "num_attention_heads"},
    hub_key{"attention.head_count", "n_head"},
    hub_key{"attention.head_count_kv", "num_key_value_heads"},
    hub_key{"attention.key_length", "head_dim"},
    hub_key{"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    hub_key{"attention.layer_norm_epsilon", "layer_norm_eps"},
    hub_key{"attention.layer_norm_epsilon", "norm_epsilon"},
    hub_key{"attention.layer_norm_epsilon", "layer_norm_epsilon"},
    hub_key{"attention.sliding_window", "sliding_window"},
    hub_key{"attention.sliding_window_pattern", "sliding_window_pattern"},
    hub_key{"attention.sliding_window_pattern", "_sliding_window_pattern"},
    hub_key{"attention.scale", "attention_multiplier"},
    hub_key{"attention.scale", "query_pre_attn_scalar", one_by_root},
    hub_key{"attention.scale_falls", "scale_attn_by_inverse_layer_idx"},
    hub_key{"attention.temperature_scale", "rope_parameters.llama_4_scaling_beta"},
    hub_key{"rope.freq_base", "rope_parameters.full_attention.rope_theta"},
    hub_key{"rope.freq_base", "rope_parameters.rope_theta"},
    hub_key{"rope.freq_base", "rope_theta"},
    hub_key{"rope.freq_base_swa", "rope_parameters.sliding_attention.rope_theta"},
    hub_key{"rope.freq_base_swa", "rope_local_base_freq"},
    hub_key{"attn_logit_softcapping", "attn_logit_softcapping"},
    hub_key{"final_logit_softcapping", "final_logit_softcapping"},
    hub_key{"embedding_scale", "embedding_multiplier"},
    hub_key{"residual_scale", "residual_multiplier"},
    hub_key{"logit_scale", "logits_scaling"},
    hub_key{"logit_scale", "logit_scale"},
    hub_key{"no_rope_layer_interval", "no_rope_layer_interval"},
};

/// Without layer and suffix.
constexpr std::array tensors{
    hub_name{"token_embd", "embed_tokens"},
    hub_name{"output_norm", "norm"},
    hub_name{"output", "lm_head"},
    hub_name{"attn_norm", "input_layernorm"},
    hub_name{"attn_q", "self_attn.q_proj"},
    hub_name{"attn_k", "self_attn.k_proj"},
    hub_name{"attn_v", "self_attn.v_proj"},
    hub_name{"attn_output", "self_attn.o_proj"},
    hub_name{"attn_q_norm", "self_attn.q_norm"},
    hub_name{"attn_k_norm", "self_attn.k_norm"},
    hub_name{"ffn_norm", "post_attention_layernorm"},
    hub_name{"ffn_gate", "mlp.gate_proj"},
    hub_name{"ffn_up", "mlp.up_proj"},
    hub_name{"ffn_down", "mlp.down_proj"},
    hub_name{"post_ffw_norm", "post_feedforward_layernorm"},
};

constexpr std::string_view layer_prefix = "blk.{layer}.";

/// A GGUF name taken apart: "blk.{layer}." or nothing, "attn_q", ".weight".
struct name_parts {
  bool in_layer = false;
  std::string_view stem, suffix;
};

name_parts parts_of(std::string_view name) {
  name_parts out;
  out.in_layer = name.starts_with(layer_prefix);
  if (out.in_layer) name.remove_prefix(layer_prefix.size());
  const std::size_t dot = name.rfind('.');
  out.stem = name.substr(0, dot);
  out.suffix = name.substr(dot);
  return out;
}

const hub_name* find(const family_descriptor& family, std::string_view stem) {
  const auto own = std::ranges::find(family.hub.names, stem, &hub_name::gguf);
  if (own != family.hub.names.end()) return &*own;
  const auto* common = std::ranges::find(tensors, stem, &hub_name::gguf);
  return common == tensors.end() ? nullptr : common;
}

/// The layer's number of "layers.12.…" or "h.12.…"; none where the name has no layer.
std::optional<std::uint32_t> layer_of(std::string_view name) {
  for (const std::string_view prefix : {"layers.", "h."}) {
    if (!name.starts_with(prefix)) continue;
    std::uint32_t layer = 0;
    const char* begin = name.data() + prefix.size();
    const auto [end, wrong] = std::from_chars(begin, name.data() + name.size(), layer);
    if (wrong == std::errc() && end != name.data() + name.size() && *end == '.') return layer;
  }
  return std::nullopt;
}

}  // namespace

std::span<const hub_key> hub_keys() {
  return keys;
}

std::string hub_tensor_name(const family_descriptor& family, std::string_view gguf_name) {
  const name_parts parts = parts_of(gguf_name);
  const hub_name* known = find(family, parts.stem);
  if (known == nullptr) return {};
  std::string out;
  if (parts.in_layer) out = std::string(family.hub.layers) + ".{layer}.";
  out += known->hub;
  out += parts.suffix;
  return out;
}

hub_rows hub_rows_of(const family_descriptor& family, std::string_view gguf_name) {
  const hub_name* known = find(family, parts_of(gguf_name).stem);
  return known == nullptr ? hub_rows::all : known->rows;
}

bool is_hub_extra(std::string_view name, std::uint32_t layers) {
  for (const std::string_view prefix : {"visual.", "vision_tower.", "vision_model.", "multi_modal_projector.", "mtp."})
    if (name.starts_with(prefix)) return true;
  // The prefix of the wrapper has been cut, which may leave nothing in front.
  for (const std::string_view buffer : {"rotary_emb.inv_freq", "attn.bias", "attn.masked_bias"})
    if (name == buffer || name.ends_with("." + std::string(buffer))) return true;
  const auto layer = layer_of(name);
  return layer && *layer >= layers;
}

}  // namespace infer::models
