// The descriptor of the starcoder2 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor starcoder2;

}  // namespace infer::models
