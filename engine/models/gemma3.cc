// Gemma 3's text models: norms on both sides of every block, local and global layers with rotations of their own.
#include "engine/models/gemma3.h"

#include <array>
#include <cmath>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"gemma3"};
constexpr std::array<std::string_view, 2> model_types{"gemma3_text", "gemma3"};
/// Their post_attention_layernorm is what its name says.
constexpr std::array hub_names{hub_name{"post_attention_norm", "post_attention_layernorm"},
                               hub_name{"ffn_norm", "pre_feedforward_layernorm"}};

/// 1/√head_dim; the 27B model, which is told by its depth, divides the width by the heads instead.
double default_attention_scale(const hyper_values& h) {
  constexpr std::uint32_t layers_of_27b = 62;
  const double divisor =
      h.size(hyper::layers) == layers_of_27b ? h[hyper::width] / h[hyper::heads] : h[hyper::head_dim];
  return 1.0 / std::sqrt(divisor);
}

constexpr std::array hyper_table{
    rows::width,
    rows::layers,
    rows::ffn_width,
    rows::context,
    rows::heads,
    rows::kv_heads,
    hyper_row{hyper::head_dim, "attention.key_length", [](const hyper_values&) { return 256.0; }, 2, 512},
    rows::q_width,
    rows::kv_width,
    rows::rope_dims,
    hyper_row{hyper::rope_base, "rope.freq_base", [](const hyper_values&) { return 1e6; }, 1, 1e12},
    hyper_row{hyper::local_rope_base, "rope.freq_base_swa", [](const hyper_values&) { return 1e4; }, 1, 1e12},
    rows::norm_eps,
    hyper_row{hyper::attention_scale, "attention.scale", default_attention_scale, 1e-6, 1e6},
    hyper_row{hyper::embedding_scale, "", rows::root_of_width},
    hyper_row{hyper::final_softcap, "final_logit_softcapping", rows::constant<0>, 0, 1e6},
    rows::window,
    hyper_row{hyper::window_period, "attention.sliding_window_pattern", [](const hyper_values&) { return 6.0; }, 1,
              1024},
};

constexpr auto resident = plan::placement::resident;

/// The files hold the weights of all norms with the 1 already added.
constexpr std::array tensor_table{
    tensor_row{role::token_embedding, "token_embd.weight", hyper::vocabulary, hyper::width, allowed::any_type,
               resident},
    tensor_row{role::output_norm, "output_norm.weight", hyper::one, hyper::width, allowed::floats, resident},
    tensor_row{role::output_head, "output.weight", hyper::vocabulary, hyper::width, allowed::any_type, resident, true},
    tensor_row{role::attention_norm, "blk.{layer}.attn_norm.weight", hyper::one, hyper::width, allowed::floats},
    tensor_row{role::q, "blk.{layer}.attn_q.weight", hyper::q_width, hyper::width},
    tensor_row{role::k, "blk.{layer}.attn_k.weight", hyper::kv_width, hyper::width},
    tensor_row{role::v, "blk.{layer}.attn_v.weight", hyper::kv_width, hyper::width},
    tensor_row{role::q_norm, "blk.{layer}.attn_q_norm.weight", hyper::one, hyper::head_dim, allowed::floats},
    tensor_row{role::k_norm, "blk.{layer}.attn_k_norm.weight", hyper::one, hyper::head_dim, allowed::floats},
    tensor_row{role::attention_output, "blk.{layer}.attn_output.weight", hyper::width, hyper::q_width},
    tensor_row{role::post_attention_norm, "blk.{layer}.post_attention_norm.weight", hyper::one, hyper::width,
               allowed::floats},
    tensor_row{role::ffn_norm, "blk.{layer}.ffn_norm.weight", hyper::one, hyper::width, allowed::floats},
    tensor_row{role::ffn_gate, "blk.{layer}.ffn_gate.weight", hyper::ffn_width, hyper::width},
    tensor_row{role::ffn_up, "blk.{layer}.ffn_up.weight", hyper::ffn_width, hyper::width},
    tensor_row{role::ffn_down, "blk.{layer}.ffn_down.weight", hyper::width, hyper::ffn_width},
    tensor_row{role::post_ffn_norm, "blk.{layer}.post_ffw_norm.weight", hyper::one, hyper::width, allowed::floats},
};

}  // namespace

const family_descriptor gemma3{
    .name = "gemma3",
    .architectures = architectures,
    .source = "Gemma Team 2025; Hugging Face modeling_gemma3.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_around,
    .rope = rope_kind::halves,
    .activation = plan::activation::gelu_tanh,
    .scales_windowed_rope = false,
    .hub = {.model_types = model_types, .names = hub_names, .tied = true, .norms_around_one = true},
};

}  // namespace infer::models
