// The descriptor of the cohere2 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor cohere2;

}  // namespace infer::models
