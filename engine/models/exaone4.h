// The descriptor of the exaone4 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor exaone4;

}  // namespace infer::models
