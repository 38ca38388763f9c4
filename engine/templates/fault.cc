// The sentences of the template faults.
#include "engine/templates/fault.h"

namespace infer::templates {

const char* fault_sentence(fault value) noexcept {
  switch (value) {
    case fault::syntax:
      return "the chat template is not well formed";
    case fault::evaluation:
      return "the chat template cannot be applied to this conversation";
    case fault::limit:
      return "the chat template exceeds its limits";
    case fault::raised:
      return "the chat template refuses this conversation";
  }
  return "unknown template fault";
}

}  // namespace infer::templates
