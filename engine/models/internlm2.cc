// InternLM 2: llama by other names in its own checkpoints, by the same in GGUF.
#include "engine/models/internlm2.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"internlm2"};
constexpr std::array<std::string_view, 1> model_types{"internlm2"};
constexpr std::array hub_names{
    hub_name{"token_embd", "tok_embeddings"},
    hub_name{"attn_norm", "attention_norm"},
    hub_name{"attn_q", "attention.wqkv", hub_rows::grouped_q},
    hub_name{"attn_k", "attention.wqkv", hub_rows::grouped_k},
    hub_name{"attn_v", "attention.wqkv", hub_rows::grouped_v},
    hub_name{"attn_output", "attention.wo"},
    hub_name{"ffn_norm", "ffn_norm"},
    hub_name{"ffn_gate", "feed_forward.w1"},
    hub_name{"ffn_up", "feed_forward.w3"},
    hub_name{"ffn_down", "feed_forward.w2"},
    hub_name{"output", "output"},
};

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
    .hub = {.model_types = model_types, .names = hub_names},
};

}  // namespace infer::models
