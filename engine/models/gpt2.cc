// GPT-2: learned positions, layer norms, biases everywhere, q, k and v in one tensor, and no gate.
#include "engine/models/gpt2.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"gpt2"};
constexpr std::array<std::string_view, 1> model_types{"gpt2"};
constexpr std::array hub_names{
    hub_name{"token_embd", "wte"}, hub_name{"position_embd", "wpe"},    hub_name{"output_norm", "ln_f"},
    hub_name{"attn_norm", "ln_1"}, hub_name{"attn_qkv", "attn.c_attn"}, hub_name{"attn_output", "attn.c_proj"},
    hub_name{"ffn_norm", "ln_2"},  hub_name{"ffn_up", "mlp.c_fc"},      hub_name{"ffn_down", "mlp.c_proj"},
};

constexpr std::array hyper_table{
    rows::width,
    rows::layers,
    hyper_row{hyper::ffn_width, "feed_forward_length", [](const hyper_values& h) { return 4 * h[hyper::width]; }, 1,
              1 << 22},
    rows::context,
    rows::heads,
    hyper_row{hyper::kv_heads, "", rows::same_as<hyper::heads>},
    hyper_row{hyper::head_dim, "", rows::width_by_heads, 2, 512},
    rows::q_width,
    rows::kv_width,
    rows::layer_norm_eps,
    rows::attention_scale,
    hyper_row{hyper::attention_falls, "attention.scale_falls", rows::constant<0>, 0, 1},
    hyper_row{hyper::v_first_row, "", rows::sum<hyper::q_width, hyper::kv_width>},
    hyper_row{hyper::qkv_width, "", rows::sum<hyper::v_first_row, hyper::kv_width>},
};

constexpr tensor_row part_of_qkv(models::role role, hyper rows, hyper first) {
  return {.role = role,
          .name = "blk.{layer}.attn_qkv.weight",
          .rows = rows,
          .columns = hyper::width,
          .first_row = first,
          .rows_in_file = hyper::qkv_width};
}
constexpr tensor_row part_of_bias(models::role role, hyper columns, hyper first) {
  return {.role = role,
          .name = "blk.{layer}.attn_qkv.bias",
          .columns = columns,
          .types = allowed::floats,
          .first_row = first,
          .rows_in_file = hyper::qkv_width};
}

constexpr std::array tensor_table{
    rows::token_embedding,
    tensor_row{role::position_embedding, "position_embd.weight", hyper::context, hyper::width, allowed::any_type,
               rows::resident},
    rows::output_norm,
    tensor_row{role::output_norm_bias, "output_norm.bias", hyper::one, hyper::width, allowed::floats, rows::resident},
    rows::output_head,
    rows::attention_norm,
    rows::vector(role::attention_norm_bias, "blk.{layer}.attn_norm.bias", hyper::width),
    part_of_qkv(role::q, hyper::q_width, hyper::zero),
    part_of_qkv(role::k, hyper::kv_width, hyper::q_width),
    part_of_qkv(role::v, hyper::kv_width, hyper::v_first_row),
    part_of_bias(role::q_bias, hyper::q_width, hyper::zero),
    part_of_bias(role::k_bias, hyper::kv_width, hyper::q_width),
    part_of_bias(role::v_bias, hyper::kv_width, hyper::v_first_row),
    rows::attention_output,
    rows::vector(role::attention_output_bias, "blk.{layer}.attn_output.bias", hyper::width),
    rows::ffn_norm,
    rows::vector(role::ffn_norm_bias, "blk.{layer}.ffn_norm.bias", hyper::width),
    rows::ffn_up,
    rows::vector(role::ffn_up_bias, "blk.{layer}.ffn_up.bias", hyper::ffn_width),
    rows::ffn_down,
    rows::vector(role::ffn_down_bias, "blk.{layer}.ffn_down.bias", hyper::width),
};

}  // namespace

const family_descriptor gpt2{
    .name = "gpt2",
    .architectures = architectures,
    .source = "Radford et al. 2019; Hugging Face modeling_gpt2.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_before_with_bias,
    .rope = rope_kind::none,
    .activation = plan::activation::gelu_tanh,
    .norm = norm_kind::layer,
    .hub = {.model_types = model_types, .names = hub_names, .layers = "h", .tied = true, .transposed = true},
};

}  // namespace infer::models
