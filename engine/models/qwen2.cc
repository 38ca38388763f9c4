// Qwen 2 and 2.5: llama with biases of queries, keys and values.
#include "engine/models/qwen2.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"qwen2"};
constexpr std::array<std::string_view, 1> model_types{"qwen2"};

constexpr auto hyper_table =
    rows::shape_and(rows::norm_eps, rows::attention_scale, rows::window, rows::window_in_all, rows::same_local_rope);

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::output_head,
    rows::attention_norm,
    rows::q(),
    rows::k(),
    rows::v,
    rows::q_bias(false),
    rows::k_bias(false),
    rows::v_bias(false),
    rows::attention_output,
    rows::ffn_norm,
    rows::ffn_gate,
    rows::ffn_up,
    rows::ffn_down,
};

}  // namespace

const family_descriptor qwen2{
    .name = "qwen2",
    .architectures = architectures,
    .source = "Yang et al. 2024; Hugging Face modeling_qwen2.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .hub = {.model_types = model_types},
};

}  // namespace infer::models
