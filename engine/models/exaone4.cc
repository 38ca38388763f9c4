// EXAONE 4: norms after the blocks alone and of every head of queries and keys; windowed layers alone turn.
#include "engine/models/exaone4.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"exaone4"};
constexpr std::array<std::string_view, 1> model_types{"exaone4"};
constexpr std::array hub_names{hub_name{"post_attention_norm", "post_attention_layernorm"}};

constexpr auto hyper_table =
    rows::shape_and(rows::norm_eps, rows::attention_scale, rows::window, rows::window_in_3_of_4, rows::same_local_rope);

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::output_head,
    rows::rope_divisors,
    rows::q(),
    rows::k(),
    rows::v,
    rows::q_norm(hyper::head_dim),
    rows::k_norm(hyper::head_dim),
    rows::attention_output,
    rows::post_attention_norm,
    rows::ffn_gate,
    rows::ffn_up,
    rows::ffn_down,
    rows::post_ffn_norm,
};

}  // namespace

const family_descriptor exaone4{
    .name = "exaone4",
    .architectures = architectures,
    .source = "LG AI Research 2025; Hugging Face modeling_exaone4.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_after,
    .rope = rope_kind::where_windowed,
    .activation = plan::activation::silu,
    .hub = {.model_types = model_types, .names = hub_names},
};

}  // namespace infer::models
