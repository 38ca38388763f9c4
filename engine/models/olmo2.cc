// OLMo 2: norms after the blocks alone, and of queries and keys over all heads together.
#include "engine/models/olmo2.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"olmo2"};
constexpr std::array<std::string_view, 2> model_types{"olmo2", "olmo3"};
constexpr std::array hub_names{hub_name{"post_attention_norm", "post_attention_layernorm"}};

constexpr auto hyper_table =
    rows::shape_and(rows::norm_eps, rows::attention_scale, rows::window, rows::window_in_3_of_4, rows::same_local_rope);

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::output_head,
    rows::q(),
    rows::k(),
    rows::v,
    rows::q_norm(hyper::q_width),
    rows::k_norm(hyper::kv_width),
    rows::attention_output,
    rows::post_attention_norm,
    rows::ffn_gate,
    rows::ffn_up,
    rows::ffn_down,
    rows::post_ffn_norm,
};

}  // namespace

const family_descriptor olmo2{
    .name = "olmo2",
    .architectures = architectures,
    .source = "OLMo Team 2024; Hugging Face modeling_olmo2.py and modeling_olmo3.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_after,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .scales_windowed_rope = false,
    .hub = {.model_types = model_types, .names = hub_names},
};

}  // namespace infer::models
