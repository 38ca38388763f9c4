// Ministral 3: llama whose queries grow with the position, so that attention stays sharp far out.
#include "engine/models/ministral3.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"mistral3"};
constexpr std::array<std::string_view, 1> model_types{"ministral3"};

constexpr auto hyper_table =
    rows::shape_and(rows::norm_eps, rows::attention_scale,
                    hyper_row{hyper::query_growth, "attention.temperature_scale", rows::constant<0>, 0, 100},
                    rows::window, rows::window_in_all, rows::same_local_rope);

}  // namespace

const family_descriptor ministral3{
    .name = "ministral3",
    .architectures = architectures,
    .source = "Mistral AI 2025; Hugging Face modeling_ministral3.py",
    .hyper = hyper_table,
    .tensors = rows::plain_tensors<rows::paired>,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .hub = {.model_types = model_types},
};

}  // namespace infer::models
