// The descriptor of the gemma2 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor gemma2;

}  // namespace infer::models
