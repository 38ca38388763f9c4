// GLM 4 of April 2025 (also GLM Z1): norms before and after both blocks, gate and up in one tensor, biases of q, k and
// v, and rope over the first half of each head.
#include "engine/models/glm4.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"glm4"};
constexpr std::array<std::string_view, 1> model_types{"glm4"};
constexpr std::array hub_names{
    hub_name{"post_attention_norm", "post_self_attn_layernorm"},
    hub_name{"post_ffw_norm", "post_mlp_layernorm"},
    hub_name{"ffn_up", "mlp.gate_up_proj"},
};

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
    hyper_row{hyper::rope_dims, "rope.dimension_count", [](const hyper_values& h) { return h[hyper::head_dim] / 2; }, 2,
              512},
    rows::rope_base,
    rows::norm_eps,
    rows::attention_scale,
    hyper_row{hyper::gate_up_width, "", rows::sum<hyper::ffn_width, hyper::ffn_width>},
};

constexpr tensor_row part_of_up(models::role role, hyper first) {
  return {.role = role,
          .name = "blk.{layer}.ffn_up.weight",
          .rows = hyper::ffn_width,
          .columns = hyper::width,
          .first_row = first,
          .rows_in_file = hyper::gate_up_width};
}

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
    rows::attention_output,
    rows::post_attention_norm,
    rows::ffn_norm,
    part_of_up(role::ffn_gate, hyper::zero),
    part_of_up(role::ffn_up, hyper::ffn_width),
    rows::ffn_down,
    rows::post_ffn_norm,
};

}  // namespace

const family_descriptor glm4{
    .name = "glm4",
    .architectures = architectures,
    .source = "GLM Team 2025; Hugging Face modeling_glm4.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_around,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .hub = {.model_types = model_types, .names = hub_names, .paired_rows = true},
};

}  // namespace infer::models
