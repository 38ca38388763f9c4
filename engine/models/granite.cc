// Granite 3: llama with multipliers of the embedding, the scores, what blocks add, and the logits.
#include "engine/models/granite.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"granite"};
constexpr std::array<std::string_view, 1> model_types{"granite"};

constexpr auto hyper_table = rows::shape_and(
    rows::norm_eps, hyper_row{hyper::attention_scale, "attention.scale", rows::one_by_root_of_head, 1e-9, 1e6},
    hyper_row{hyper::embedding_scale, "embedding_scale", rows::constant<1>, 1e-6, 1e6},
    hyper_row{hyper::residual_scale, "residual_scale", rows::constant<1>, 1e-6, 1e6},
    hyper_row{hyper::logit_scale, "logit_scale", rows::constant<1>, 1e-6, 1e6},
    hyper_row{hyper::logit_factor, "", [](const hyper_values& h) { return 1.0 / h[hyper::logit_scale]; }});

}  // namespace

const family_descriptor granite{
    .name = "granite",
    .architectures = architectures,
    .source = "Granite Team 2024; Hugging Face modeling_granite.py",
    .hyper = hyper_table,
    .tensors = rows::plain_tensors<rows::paired>,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .hub = {.model_types = model_types},
};

}  // namespace infer::models
