// The descriptor of the glm4 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor glm4;

}  // namespace infer::models
