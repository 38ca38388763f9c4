// How values look as text: Python's str and repr, and JSON as the reference chat-template renderer writes it.
#pragma once

#include <string>

#include "engine/templates/evaluated.h"
#include "engine/templates/value.h"

namespace infer::templates {

/// Python's str(): strings as they are, with provenance; everything else becomes data.
text to_text(const value& of);

/// Python's repr().
std::string to_repr(const value& of);

/// Python's repr of a float: shortest digits that read back, always with a point or exponent.
std::string float_repr(double number);

struct json_style {
  bool ensure_ascii = false;
  int indent = -1;  // negative: one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sort_keys = false;
};

/// Python's json.dumps. Errors: evaluation, for a value JSON does not have.
evaluated<std::string> to_json(const value& of, const json_style& style = {});

}  // namespace infer::templates
