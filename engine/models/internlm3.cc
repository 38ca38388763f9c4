// InternLM 3: llama by another name. Its GGUF files say llama.
#include "engine/models/internlm3.h"

#include <array>

#include "engine/models/common_rows.h"

namespace infer::models {
namespace {

constexpr std::array<std::string_view, 1> model_types{"internlm3"};

constexpr auto hyper_table = rows::shape_and(rows::norm_eps, rows::attention_scale);

}  // namespace

const family_descriptor internlm3{
    .name = "internlm3",
    .architectures = {},
    .source = "InternLM Team 2025",
    .hyper = hyper_table,
    .tensors = rows::plain_tensors<rows::canonical>,
    .layer = rows::normed_before,
    .rope = rope_kind::halves,
    .activation = plan::activation::silu,
    .hub = {.model_types = model_types},
};

}  // namespace infer::models
