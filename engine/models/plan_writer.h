// Writes the operations of a plan from a family's blocks.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "engine/models/descriptor.h"
#include "engine/models/hyper_reader.h"
#include "engine/models/rope_reader.h"

namespace infer::models {

/// (role, layer) → index into the weight table; layer 0 for what is not per layer.
using weight_index = std::map<std::pair<role, std::uint32_t>, std::uint32_t>;

/// Lays out slots, parameters, state groups and operations.
plan::plan write_plan(const family_descriptor& family, const hyper_values& hyper, const weight_index& index,
                      const layer_lists& layers, const model_ropes& ropes, plan::activation activation);

}  // namespace infer::models
