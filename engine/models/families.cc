// The list of families: adding one is a descriptor file and a line here.
#include <algorithm>
#include <array>

#include "engine/models/gemma3.h"
#include "engine/models/llama.h"

namespace infer::models {
namespace {

constexpr std::array<const family_descriptor*, 2> families{&llama, &gemma3};

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
