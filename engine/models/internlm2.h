// The descriptor of the internlm2 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor internlm2;

}  // namespace infer::models
