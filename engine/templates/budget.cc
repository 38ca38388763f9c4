// What is said when a bound is passed.
#include "engine/templates/budget.h"

#include <string>

namespace infer::templates {

evaluated<void> budget::too_many_steps() const {
  return fail(fault::limit, "more than " + std::to_string(limits_.steps) + " steps");
}

evaluated<void> budget::too_many_bytes() const {
  return fail(fault::limit, "a value of more than " + std::to_string(limits_.value_bytes) + " bytes");
}

}  // namespace infer::templates
