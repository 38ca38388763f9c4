// From a family's descriptor and a model file to a plan and its weight table.
#pragma once

#include <memory>

#include "engine/formats/model_file.h"
#include "engine/models/descriptor.h"
#include "engine/plan/plan.h"
#include "engine/plan/weights.h"

namespace infer::models {

/// A model ready for an executor's `prepare`.
struct model {
  const family_descriptor* family = nullptr;
  hyper_values hyper;
  plan::plan plan;
  plan::weight_table weights;
};

/// Reads hyperparameters, checks every tensor against the descriptor and lays out the plan.
/// Errors:  an architecture that no family has; keys that are missing or out of range; and all missing, misshapen or
///          unreadable tensors at once, by name.
/// Memory:  the weights stay in the file's mapping, which the model keeps alive.
result<model> build(std::shared_ptr<const formats::model_file> file);

}  // namespace infer::models
