// Llama 1, 2, 3 and the checkpoints that are llama by another name.
#include "engine/models/llama.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> architectures{"llama"};
constexpr std::array<std::string_view, 1> model_types{"llama"};

constexpr auto hyper_table = rows::shape_and(rows::norm_eps, rows::attention_scale);

}  // namespace

const family_descriptor llama{
    .name = "llama",
    .architectures = architectures,
    .source = "Touvron et al. 2023; Grattafiori et al. 2024; Hugging Face modeling_llama.py",
    .hyper = hyper_table,
    .tensors = rows::plain_tensors<rows::paired>,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .hub = {.model_types = model_types},
};

}  // namespace infer::models
