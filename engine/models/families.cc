// The list of families: adding one is a descriptor file and a line here.
#include <algorithm>
#include <array>

#include "engine/models/cohere.h"
#include "engine/models/cohere2.h"
#include "engine/models/exaone4.h"
#include "engine/models/gemma.h"
#include "engine/models/gemma2.h"
#include "engine/models/gemma3.h"
#include "engine/models/glm4.h"
#include "engine/models/gpt2.h"
#include "engine/models/granite.h"
#include "engine/models/internlm2.h"
#include "engine/models/internlm3.h"
#include "engine/models/llama.h"
#include "engine/models/ministral3.h"
#include "engine/models/mistral.h"
#include "engine/models/olmo2.h"
#include "engine/models/phi3.h"
#include "engine/models/qwen2.h"
#include "engine/models/qwen3.h"
#include "engine/models/smollm3.h"
#include "engine/models/starcoder2.h"

namespace infer::models {
namespace {

constexpr std::array families{
    &llama, &mistral, &ministral3, &qwen2,  &qwen3,   &gemma,     &gemma2,    &gemma3, &phi3,       &granite,
    &olmo2, &smollm3, &exaone4,    &cohere, &cohere2, &internlm2, &internlm3, &gpt2,   &starcoder2, &glm4,
};

}  // namespace

std::span<const family_descriptor* const> all_families() {
  return families;
}

const family_descriptor* find_family(std::string_view architecture) {
  for (const family_descriptor* family : families) {
    if (std::ranges::find(family->architectures, architecture) != family->architectures.end()) return family;
  }
  return nullptr;
}

const family_descriptor* find_hub_family(std::string_view model_type) {
  for (const family_descriptor* family : families) {
    if (std::ranges::find(family->hub.model_types, model_type) != family->hub.model_types.end()) return family;
  }
  return nullptr;
}

}  // namespace infer::models
