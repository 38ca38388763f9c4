// The llama family.
#pragma once

#include "engine/models/descriptor.h"

namespace infer::models {

extern const family_descriptor llama;

}  // namespace infer::models
