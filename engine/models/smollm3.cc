// SmolLM 3: llama of which every fourth layer does not turn queries and keys.
#include "engine/models/smollm3.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"smollm3"};

constexpr auto hyper_table =
    rows::shape_and(rows::norm_eps, rows::attention_scale, hyper_row{hyper::no_rope_period, "", rows::constant<4>});

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::output_head,
    rows::attention_norm,
    rows::q(rows::paired),
    rows::k(rows::paired),
    rows::v,
    rows::attention_output,
    rows::q_bias(true, rows::paired),
    rows::k_bias(true, rows::paired),
    rows::v_bias(true),
    rows::vector(role::attention_output_bias, "blk.{layer}.attn_output.bias", hyper::width, true),
    rows::vector(role::ffn_gate_bias, "blk.{layer}.ffn_gate.bias", hyper::ffn_width, true),
    rows::vector(role::ffn_up_bias, "blk.{layer}.ffn_up.bias", hyper::ffn_width, true),
    rows::vector(role::ffn_down_bias, "blk.{layer}.ffn_down.bias", hyper::width, true),
    rows::ffn_norm,
    rows::ffn_gate,
    rows::ffn_up,
    rows::ffn_down,
};

}  // namespace

const family_descriptor smollm3{
    .name = "smollm3",
    .architectures = architectures,
    .source = "Hugging Face 2025; modeling_smollm3.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
};

}  // namespace infer::models
