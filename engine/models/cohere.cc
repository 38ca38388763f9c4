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

}  // namespace

const family_descriptor cohere{
    .name = "cohere",
    .architectures = architectures,
    .source = "Cohere 2024; Hugging Face modeling_cohere.py",
    .hyper = hyper_table,
    .tensors = rows::side_by_side_tensors,
    .layer = rows::side_by_side,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .norm = norm_kind::layer,
    .hub = {.model_types = model_types, .tied = true, .paired_rows = true},
};

}  // namespace infer::models
