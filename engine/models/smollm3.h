// The descriptor of the smollm3 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor smollm3;

}  // namespace infer::models
