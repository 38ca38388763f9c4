// The gemma3 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor gemma3;

}  // namespace infer::models
