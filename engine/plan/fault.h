// What can go wrong in a step.
#pragma once

#include "engine/core/result.h"

namespace infer::plan {

enum class fault {
  no_pages = 1,    // the page pool is dry
  past_context,    // a row would exceed the sequence's context
  bad_row,         // ids outside the vocabulary, an empty row, a sequence twice in one batch
  unsupported,     // the executor lacks an operation or a type
  numeric,         // a logit is not finite
  not_restorable,  // a sequence cannot go back to the length asked for
  damaged,         // a snapshot is not what was written
  foreign,         // a snapshot belongs to another model, type or version
};

}  // namespace infer::plan

INFER_FAULT_ENUM(infer::plan, fault, "step");
