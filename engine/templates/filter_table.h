// The filters, in two families; filters.cc looks them up.
#pragma once

#include <span>
#include <string_view>

#include "engine/templates/builtins.h"

namespace infer::templates {

struct filter_entry {
  std::string_view name;
  evaluated<value> (*call)(services& with, const value& input, const call_arguments& args);
  bool prints_input = false;  // all of it, whatever lies inside
};

/// Filters that make strings and numbers.
std::span<const filter_entry> text_filters();
/// Filters over lists, dictionaries and whatever is iterable.
std::span<const filter_entry> sequence_filters();

}  // namespace infer::templates
