// Command R7B and A: as Command R, with windows in three of four layers, which alone turn.
#include "engine/models/cohere2.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"cohere2"};
constexpr std::array<std::string_view, 1> model_types{"cohere2"};

constexpr auto hyper_table =
    rows::shape_and(rows::layer_norm_eps, rows::attention_scale,
                    hyper_row{hyper::logit_factor, "logit_scale", rows::constant<1>, 1e-6, 1e6},
                    hyper_row{hyper::window, "attention.sliding_window", nullptr, 0, 1 << 28}, rows::window_in_3_of_4,
                    rows::same_local_rope);

}  // namespace

const family_descriptor cohere2{
    .name = "cohere2",
    .architectures = architectures,
    .source = "Cohere 2025; Hugging Face modeling_cohere2.py",
    .hyper = hyper_table,
    .tensors = rows::side_by_side_tensors,
    .layer = rows::side_by_side,
    .rope = rope_kind::where_windowed,
    .activation = plan::activation::silu,
    .norm = norm_kind::layer,
    .hub = {.model_types = model_types, .tied = true, .paired_rows = true},
};

}  // namespace infer::models
