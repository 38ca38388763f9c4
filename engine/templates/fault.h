// What can go wrong with a chat template.
#pragma once

#include "engine/core/result.h"

namespace infer::templates {

enum class fault {
  syntax = 1,  // the source is not a template; the detail names the line and what was expected
  evaluation,  // an operation on values that do not support it; the detail names the line
  limit,       // more steps, depth or bytes than the caller allows
  raised,      // the template itself refused the conversation; the detail is its message
};

}  // namespace infer::templates

INFER_FAULT_ENUM(infer::templates, fault, "chat template");
