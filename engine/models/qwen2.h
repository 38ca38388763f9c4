// The descriptor of the qwen2 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor qwen2;

}  // namespace infer::models
