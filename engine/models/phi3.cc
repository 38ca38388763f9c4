// Phi 3 and 4: llama with q, k and v in one tensor, gate and up in another, and a window in every layer.
#include "engine/models/phi3.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"phi3"};
constexpr std::array<std::string_view, 1> model_types{"phi3"};
constexpr std::array hub_names{hub_name{"attn_qkv", "self_attn.qkv_proj"}, hub_name{"ffn_up", "mlp.gate_up_proj"}};

constexpr auto hyper_table =
    rows::shape_and(rows::norm_eps, rows::attention_scale, rows::window, rows::window_in_all, rows::same_local_rope,
                    hyper_row{hyper::v_first_row, "", rows::sum<hyper::q_width, hyper::kv_width>},
                    hyper_row{hyper::qkv_width, "", rows::sum<hyper::v_first_row, hyper::kv_width>},
                    hyper_row{hyper::gate_up_width, "", rows::sum<hyper::ffn_width, hyper::ffn_width>});

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::output_head,
    rows::rope_short_divisors,
    rows::rope_long_divisors,
    rows::attention_norm,
    tensor_row{.role = role::q,
               .name = "blk.{layer}.attn_qkv.weight",
               .rows = hyper::q_width,
               .columns = hyper::width,
               .first_row = hyper::zero,
               .rows_in_file = hyper::qkv_width},
    tensor_row{.role = role::k,
               .name = "blk.{layer}.attn_qkv.weight",
               .rows = hyper::kv_width,
               .columns = hyper::width,
               .first_row = hyper::q_width,
               .rows_in_file = hyper::qkv_width},
    tensor_row{.role = role::v,
               .name = "blk.{layer}.attn_qkv.weight",
               .rows = hyper::kv_width,
               .columns = hyper::width,
               .first_row = hyper::v_first_row,
               .rows_in_file = hyper::qkv_width},
    rows::attention_output,
    rows::ffn_norm,
    tensor_row{.role = role::ffn_gate,
               .name = "blk.{layer}.ffn_up.weight",
               .rows = hyper::ffn_width,
               .columns = hyper::width,
               .first_row = hyper::zero,
               .rows_in_file = hyper::gate_up_width},
    tensor_row{.role = role::ffn_up,
               .name = "blk.{layer}.ffn_up.weight",
               .rows = hyper::ffn_width,
               .columns = hyper::width,
               .first_row = hyper::ffn_width,
               .rows_in_file = hyper::gate_up_width},
    rows::ffn_down,
};

}  // namespace

const family_descriptor phi3{
    .name = "phi3",
    .architectures = architectures,
    .source = "Abdin et al. 2024; Hugging Face modeling_phi3.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .hub = {.model_types = model_types, .names = hub_names},
};

}  // namespace infer::models
