// StarCoder 2: layer norms, biases everywhere, and a feed-forward block without a gate.
#include "engine/models/starcoder2.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"starcoder2"};

constexpr auto hyper_table = rows::shape_and(rows::layer_norm_eps, rows::attention_scale);

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

constexpr std::array layer_blocks{
    block_row{block::norm, role::attention_norm, role::attention_norm_bias},
    block_row{block::attention},
    block_row{block::add},
    block_row{block::norm, role::ffn_norm, role::ffn_norm_bias},
    block_row{block::feed_forward},
    block_row{block::add},
};

}  // namespace

const family_descriptor starcoder2{
    .name = "starcoder2",
    .architectures = architectures,
    .source = "Lozhkov et al. 2024; Hugging Face modeling_starcoder2.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = layer_blocks,
    .rope = rope_kind::halves,
    .activation = plan::activation::gelu_tanh,
    .norm = norm_kind::layer,
};

}  // namespace infer::models
