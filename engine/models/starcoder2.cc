// StarCoder 2: layer norms, biases everywhere, and a feed-forward block without a gate.
#include "engine/models/starcoder2.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"starcoder2"};
constexpr std::array<std::string_view, 1> model_types{"starcoder2"};
constexpr std::array hub_names{hub_name{"ffn_up", "mlp.c_fc"}, hub_name{"ffn_down", "mlp.c_proj"}};

constexpr auto hyper_table = rows::shape_and(rows::layer_norm_eps, rows::attention_scale, rows::window,
                                             rows::window_in_all, rows::same_local_rope);

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::output_head,
    tensor_row{role::output_norm_bias, "output_norm.bias", hyper::one, hyper::width, allowed::floats, rows::resident},
    rows::attention_norm,
    rows::vector(role::attention_norm_bias, "blk.{layer}.attn_norm.bias", hyper::width),
    rows::q(),
    rows::k(),
    rows::v,
    rows::q_bias(true),
    rows::k_bias(true),
    rows::v_bias(true),
    rows::attention_output,
    rows::vector(role::attention_output_bias, "blk.{layer}.attn_output.bias", hyper::width, true),
    rows::ffn_norm,
    rows::vector(role::ffn_norm_bias, "blk.{layer}.ffn_norm.bias", hyper::width),
    rows::ffn_up,
    rows::vector(role::ffn_up_bias, "blk.{layer}.ffn_up.bias", hyper::ffn_width, true),
    rows::ffn_down,
    rows::vector(role::ffn_down_bias, "blk.{layer}.ffn_down.bias", hyper::width, true),
};

}  // namespace

const family_descriptor starcoder2{
    .name = "starcoder2",
    .architectures = architectures,
    .source = "Lozhkov et al. 2024; Hugging Face modeling_starcoder2.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_before_with_bias,
    .rope = rope_kind::halves,
    .activation = plan::activation::gelu_tanh,
    .norm = norm_kind::layer,
    .hub = {.model_types = model_types, .names = hub_names, .tied = true},
};

}  // namespace infer::models
