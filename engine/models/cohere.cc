// Command R: both blocks of a layer read one layer norm; logits are scaled.
#include "engine/models/cohere.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"command-r"};
constexpr std::array<std::string_view, 1> model_types{"cohere"};

constexpr auto hyper_table =
    rows::shape_and(rows::layer_norm_eps, rows::attention_scale,
                    hyper_row{hyper::logit_factor, "logit_scale", rows::constant<1>, 1e-6, 1e6});

// The largest models norm queries and keys.
constexpr auto tensor_table = rows::with(rows::side_by_side_tensors,  //
                                         rows::norm_by_heads(rows::q_norm(hyper::q_width), rows::paired),
                                         rows::norm_by_heads(rows::k_norm(hyper::kv_width), rows::paired));

}  // namespace

const family_descriptor cohere{
    .name = "cohere",
    .architectures = architectures,
    .source = "Cohere 2024; Hugging Face modeling_cohere.py",
    .hyper = hyper_table,
    .tensors = tensor_table,
    .layer = rows::side_by_side,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .norm = norm_kind::layer,
    .hub = {.model_types = model_types, .tied = true, .paired_rows = true},
};

}  // namespace infer::models
