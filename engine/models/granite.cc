// Granite 3: llama with multipliers of the embedding, the scores, what blocks add, and the logits.
#include "engine/models/granite.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"granite"};

constexpr auto hyper_table = rows::shape_and(
    rows::norm_eps, hyper_row{hyper::attention_scale, "attention.scale", rows::one_by_root_of_head, 1e-9, 1e6},
    hyper_row{hyper::embedding_scale, "embedding_scale", rows::constant<1>, 1e-6, 1e6},
    hyper_row{hyper::residual_scale, "residual_scale", rows::constant<1>, 1e-6, 1e6},
    hyper_row{hyper::logit_scale, "logit_scale", rows::constant<1>, 1e-6, 1e6},
    hyper_row{hyper::logit_factor, "", [](const hyper_values& h) { return 1.0 / h[hyper::logit_scale]; }});

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

const family_descriptor granite{
    .name = "granite",
    .architectures = architectures,
    .source = "Granite Team 2024; Hugging Face modeling_granite.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
};

}  // namespace infer::models
