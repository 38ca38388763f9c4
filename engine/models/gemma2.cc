// Gemma 2: norms on both sides of every block, every other layer with a window, softcaps of scores and logits.
#include "engine/models/gemma2.h"

#include <array>
#include <cmath>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"gemma2"};
constexpr std::array<std::string_view, 1> model_types{"gemma2"};
/// Their post_attention_layernorm is what its name says.
constexpr std::array hub_names{hub_name{"post_attention_norm", "post_attention_layernorm"},
                               hub_name{"ffn_norm", "pre_feedforward_layernorm"}};

/// 1/√head_dim; the 27B model, which is told by its depth, divides the width by the heads instead.
double default_attention_scale(const hyper_values& h) {
  constexpr std::uint32_t layers_of_27b = 46;
  return 1.0 /
         std::sqrt(h.size(hyper::layers) == layers_of_27b ? h[hyper::width] / h[hyper::heads] : h[hyper::head_dim]);
}

constexpr auto hyper_table = rows::shape_and(
    rows::norm_eps, hyper_row{hyper::attention_scale, "attention.scale", default_attention_scale, 1e-6, 1e6},
    hyper_row{hyper::embedding_scale, "", rows::root_of_width},
    hyper_row{hyper::attention_softcap, "attn_logit_softcapping", rows::constant<50>, 0, 1e6},
    hyper_row{hyper::final_softcap, "final_logit_softcapping", rows::constant<30>, 0, 1e6},
    hyper_row{hyper::window, "attention.sliding_window", rows::constant<4096>, 0, 1 << 28},
    hyper_row{hyper::window_period, "", rows::constant<2>}, rows::same_local_rope);

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::output_head,
    rows::attention_norm,
    rows::q(),
    rows::k(),
    rows::v,
    rows::attention_output,
    rows::post_attention_norm,
    rows::ffn_norm,
    rows::ffn_gate,
    rows::ffn_up,
    rows::ffn_down,
    rows::post_ffn_norm,
};

}  // namespace

const family_descriptor gemma2{
    .name = "gemma2",
    .architectures = architectures,
    .source = "Gemma Team 2024; Hugging Face modeling_gemma2.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_around,
    .rope = rope_kind::halves,
    .activation = plan::activation::gelu_tanh,
    .hub = {.model_types = model_types, .names = hub_names, .tied = true, .norms_around_one = true},
};

}  // namespace infer::models
