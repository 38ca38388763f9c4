// The descriptor of the gemma family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor gemma;

}  // namespace infer::models
