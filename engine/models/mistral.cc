// Mistral and Ministral: llama with a window in all layers or in those the configuration names. Their GGUF files
// say llama and have no window.
#include "engine/models/mistral.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 2> model_types{"mistral", "ministral"};

constexpr auto hyper_table =
    rows::shape_and(rows::norm_eps, rows::attention_scale, rows::window, rows::window_in_all, rows::same_local_rope);

}  // namespace

const family_descriptor mistral{
    .name = "mistral",
    .architectures = {},
    .source = "Jiang et al. 2023; Hugging Face modeling_mistral.py and modeling_ministral.py",
    .hyper = hyper_table,
    .tensors = rows::plain_tensors<rows::canonical>,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .hub = {.model_types = model_types},
};

}  // namespace infer::models
