// The descriptor of the internlm3 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor internlm3;

}  // namespace infer::models
