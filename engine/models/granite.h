// The descriptor of the granite family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor granite;

}  // namespace infer::models
