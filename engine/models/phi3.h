// The descriptor of the phi3 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor phi3;

}  // namespace infer::models
