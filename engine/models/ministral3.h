// The descriptor of the ministral3 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor ministral3;

}  // namespace infer::models
