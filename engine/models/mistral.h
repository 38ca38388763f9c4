// The descriptor of the mistral family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor mistral;

}  // namespace infer::models
