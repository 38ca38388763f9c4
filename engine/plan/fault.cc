// Sentences of the step faults.
#include "engine/plan/fault.h"

namespace infer::plan {

const char* fault_sentence(fault value) noexcept {
  switch (value) {
    case fault::no_pages:
      return "the page pool has no free page";
    case fault::past_context:
      return "the sequence is longer than its context";
    case fault::bad_row:
      return "a batch row is malformed";
    case fault::unsupported:
      return "the executor does not support this model";
    case fault::numeric:
      return "a logit is not a finite number";
    case fault::not_restorable:
      return "the sequence cannot go back to that length";
    case fault::damaged:
      return "the snapshot is damaged";
    case fault::foreign:
      return "the snapshot belongs to another model or version";
  }
  return "unknown fault";
}

}  // namespace infer::plan
