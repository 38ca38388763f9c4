// InternLM 2: llama by other names in its own checkpoints, by the same in GGUF.
#include "engine/models/internlm2.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"internlm2"};

constexpr auto hyper_table = rows::shape_and(rows::norm_eps, rows::attention_scale);

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::output_head,
    rows::attention_norm,
    rows::q(rows::paired),
    rows::k(rows::paired),
    rows::v,
    rows::q_bias(true, rows::paired),
    rows::k_bias(true, rows::paired),
    rows::v_bias(true),
    rows::vector(role::attention_output_bias, "blk.{layer}.attn_output.bias", hyper::width, true),
    rows::attention_output,
    rows::ffn_norm,
    rows::ffn_gate,
    rows::ffn_up,
    rows::ffn_down,
};

}  // namespace

const family_descriptor internlm2{
    .name = "internlm2",
    .architectures = architectures,
    .source = "Cai et al. 2024",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
};

}  // namespace infer::models
