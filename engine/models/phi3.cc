// Phi 3 and 4: llama with q, k and v in one tensor, gate and up in another, and a window in every layer.
#include "engine/models/phi3.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"phi3"};

/// A period that no model's layers reach: all of them have the window.
constexpr int layers_without_end = 1 << 20;

constexpr auto hyper_table =
    rows::shape_and(rows::norm_eps, rows::attention_scale, rows::window,
                    hyper_row{hyper::window_period, "", rows::constant<layers_without_end>}, rows::same_local_rope,
                    hyper_row{hyper::v_first_row, "", rows::sum<hyper::q_width, hyper::kv_width>},
                    hyper_row{hyper::qkv_width, "", rows::sum<hyper::v_first_row, hyper::kv_width>},
                    hyper_row{hyper::gate_up_width, "", rows::sum<hyper::ffn_width, hyper::ffn_width>});

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::output_head,
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
};

}  // namespace infer::models
