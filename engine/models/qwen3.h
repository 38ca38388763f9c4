// The descriptor of the qwen3 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor qwen3;

}  // namespace infer::models
