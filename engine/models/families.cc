// The list of families: adding one is a descriptor file and a line here.
#include <algorithm>
#include <array>

#include "engine/models/cohere.h"
#include "engine/models/cohere2.h"
#include "engine/models/exaone4.h"
#include "engine/models/gemma.h"
#include "engine/models/gemma2.h"
#include "engine/models/gemma3.h"
#include "engine/models/granite.h"
#include "engine/models/internlm2.h"
#include "engine/models/llama.h"
#include "engine/models/olmo2.h"
#include "engine/models/phi3.h"
#include "engine/models/qwen2.h"
#include "engine/models/qwen3.h"
#include "engine/models/smollm3.h"
#include "engine/models/starcoder2.h"

namespace infer::models {
namespace {

constexpr std::array<const family_descriptor*, 15> families{
    &llama,   &qwen2, &qwen3,   &gemma,     &gemma2, &gemma3,  &granite,    &olmo2,
    &smollm3, &phi3,  &exaone4, &internlm2, &cohere, &cohere2, &starcoder2,
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

}  // namespace infer::models
