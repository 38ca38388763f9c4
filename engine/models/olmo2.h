// The descriptor of the olmo2 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor olmo2;

}  // namespace infer::models
