// SmolLM 3: llama of which every fourth layer does not turn queries and keys.
#include "engine/models/smollm3.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"smollm3"};
constexpr std::array<std::string_view, 1> model_types{"smollm3"};

constexpr auto hyper_table =
    rows::shape_and(rows::norm_eps, rows::attention_scale,
                    hyper_row{hyper::no_rope_period, "no_rope_layer_interval", rows::constant<4>, 0, 1024},
                    rows::window, rows::window_in_all, rows::same_local_rope);

}  // namespace

const family_descriptor smollm3{
    .name = "smollm3",
    .architectures = architectures,
    .source = "Hugging Face 2025; modeling_smollm3.py",
    .hyper = hyper_table,
    .tensors = rows::plain_tensors<rows::paired>,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .windows_unturned = true,
    .hub = {.model_types = model_types, .tied = true},
};

}  // namespace infer::models
