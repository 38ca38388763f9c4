// Gemma 1: llama with a scaled embedding and GELU.
#include "engine/models/gemma.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"gemma"};
constexpr std::array<std::string_view, 1> model_types{"gemma"};

constexpr auto hyper_table =
    rows::shape_and(rows::norm_eps, rows::attention_scale, hyper_row{hyper::embedding_scale, "", rows::root_of_width});

constexpr std::array tensor_table{
    rows::token_embedding,
    rows::output_norm,
    rows::output_head,
    rows::attention_norm,
    rows::q(),
    rows::k(),
    rows::v,
    rows::attention_output,
    rows::ffn_norm,
    rows::ffn_gate,
    rows::ffn_up,
    rows::ffn_down,
};

}  // namespace

const family_descriptor gemma{
    .name = "gemma",
    .architectures = architectures,
    .source = "Gemma Team 2024; Hugging Face modeling_gemma.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::gelu_tanh,
    .hub = {.model_types = model_types, .tied = true, .norms_around_one = true, .gelu_is_tanh = true},
};

}  // namespace infer::models
