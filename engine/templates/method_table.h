// The methods by what has them; methods.cc looks them up.
#pragma once

#include <span>
#include <string_view>

#include "engine/templates/builtins.h"

namespace infer::templates {

struct method_entry {
  std::string_view name;
  evaluated<value> (*call)(services& with, const value& self, const call_arguments& args);
  bool walks_self = true;  // rather than to look one item up
};

/// The methods of strings.
std::span<const method_entry> text_methods();

}  // namespace infer::templates
