// The descriptor of the gpt2 family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor gpt2;

}  // namespace infer::models
