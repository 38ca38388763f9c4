// Command R7B and A: as Command R, with windows in three of four layers, which alone turn.
#include "engine/models/cohere2.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"cohere2"};

constexpr std::array hyper_table{
    rows::width,
    rows::layers,
    rows::ffn_width,
    rows::context,
    rows::heads,
    rows::kv_heads,
    rows::head_dim,
    rows::q_width,
    rows::kv_width,
    rows::rope_dims,
    rows::rope_base,
    rows::rope_factor,
    rows::layer_norm_eps,
    rows::attention_scale,
    hyper_row{hyper::logit_factor, "logit_scale", rows::constant<1>, 1e-6, 1e6},
    hyper_row{hyper::window, "attention.sliding_window", nullptr, 0, 1 << 28},
    rows::window_in_3_of_4,
    rows::same_local_rope,
    rows::turned_where_windowed,
};

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::attention_norm,
    rows::q(rows::paired),
    rows::k(rows::paired),
    rows::v,
    rows::q_bias(true, rows::paired),
    rows::k_bias(true, rows::paired),
    rows::v_bias(true),
    rows::vector(role::attention_output_bias, "blk.{layer}.attn_output.bias", hyper::width, true),
    rows::attention_output,
    rows::ffn_gate,
    rows::ffn_up,
    rows::ffn_down,
};

}  // namespace

const family_descriptor cohere2{
    .name = "cohere2",
    .architectures = architectures,
    .source = "Cohere 2025; Hugging Face modeling_cohere2.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::side_by_side,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .norm = norm_kind::layer,
};

}  // namespace infer::models
