// The descriptor of the cohere family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor cohere;

}  // namespace infer::models
