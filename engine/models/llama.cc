// Llama 1, 2, 3 and the checkpoints that are llama by another name.
#include "engine/models/llama.h"

#include <array>
#include <cmath>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"llama"};

constexpr auto hyper_table = rows::shape_and(rows::norm_eps, rows::attention_scale);

constexpr auto resident = plan::placement::resident;
constexpr auto per_layer = plan::placement::per_layer;
constexpr auto paired = plan::row_order::pairs_to_halves;

constexpr std::array tensor_table{
    tensor_row{role::token_embedding, "token_embd.weight", hyper::vocabulary, hyper::width, allowed::any_type,
               resident},
    tensor_row{role::output_norm, "output_norm.weight", hyper::one, hyper::width, allowed::floats, resident},
    tensor_row{role::output_head, "output.weight", hyper::vocabulary, hyper::width, allowed::any_type, resident, true},
    tensor_row{role::rope_divisors, "rope_freqs.weight", hyper::one, hyper::rope_dims, allowed::floats, resident, true,
               plan::row_order::canonical, true},
    tensor_row{role::attention_norm, "blk.{layer}.attn_norm.weight", hyper::one, hyper::width, allowed::floats},
    tensor_row{role::q, "blk.{layer}.attn_q.weight", hyper::q_width, hyper::width, allowed::any_type, per_layer, false,
               paired},
    tensor_row{role::k, "blk.{layer}.attn_k.weight", hyper::kv_width, hyper::width, allowed::any_type, per_layer, false,
               paired},
    tensor_row{role::v, "blk.{layer}.attn_v.weight", hyper::kv_width, hyper::width},
    tensor_row{role::attention_output, "blk.{layer}.attn_output.weight", hyper::width, hyper::q_width},
    tensor_row{role::q_bias, "blk.{layer}.attn_q.bias", hyper::one, hyper::q_width, allowed::floats, per_layer, true,
               paired},
    tensor_row{role::k_bias, "blk.{layer}.attn_k.bias", hyper::one, hyper::kv_width, allowed::floats, per_layer, true,
               paired},
    tensor_row{role::v_bias, "blk.{layer}.attn_v.bias", hyper::one, hyper::kv_width, allowed::floats, per_layer, true},
    tensor_row{role::attention_output_bias, "blk.{layer}.attn_output.bias", hyper::one, hyper::width, allowed::floats,
               per_layer, true},
    tensor_row{role::ffn_norm, "blk.{layer}.ffn_norm.weight", hyper::one, hyper::width, allowed::floats},
    tensor_row{role::ffn_gate, "blk.{layer}.ffn_gate.weight", hyper::ffn_width, hyper::width},
    tensor_row{role::ffn_up, "blk.{layer}.ffn_up.weight", hyper::ffn_width, hyper::width},
    tensor_row{role::ffn_down, "blk.{layer}.ffn_down.weight", hyper::width, hyper::ffn_width},
    tensor_row{role::ffn_gate_bias, "blk.{layer}.ffn_gate.bias", hyper::one, hyper::ffn_width, allowed::floats,
               per_layer, true},
    tensor_row{role::ffn_up_bias, "blk.{layer}.ffn_up.bias", hyper::one, hyper::ffn_width, allowed::floats, per_layer,
               true},
    tensor_row{role::ffn_down_bias, "blk.{layer}.ffn_down.bias", hyper::one, hyper::width, allowed::floats, per_layer,
               true},
};

constexpr std::array layer_blocks{
    block_row{block::norm, role::attention_norm}, block_row{block::attention},    block_row{block::add},
    block_row{block::norm, role::ffn_norm},       block_row{block::feed_forward}, block_row{block::add},
};

}  // namespace

const family_descriptor llama{
    .name = "llama",
    .architectures = architectures,
    .source = "Touvron et al. 2023; Grattafiori et al. 2024; Hugging Face modeling_llama.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = layer_blocks,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
};

}  // namespace infer::models
