// The filters, tests, methods and global functions that templates may use.
#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/result.h"
#include "engine/templates/budget.h"
#include "engine/templates/value.h"

namespace infer::templates {

/// The arguments of one call, evaluated.
struct call_arguments {
  std::vector<value> positional;
  std::vector<std::pair<std::string, value>> named;

  /// The argument at `index` or of that name; null where it was not given.
  const value* get(std::size_t index, std::string_view name) const;
  bool flag(std::size_t index, std::string_view name, bool otherwise) const;
  /// Errors: evaluation, where the argument is given and is no integer.
  result<std::int64_t> integer(std::size_t index, std::string_view name, std::int64_t otherwise) const;
  /// The string argument, or `otherwise`. Errors: evaluation, for another type.
  result<text> string(std::size_t index, std::string_view name, std::string_view otherwise) const;
};

/// What built-ins may use of the rendering they are called from.
struct services {
  budget spent;
  std::tm now{};
  std::vector<std::shared_ptr<name_space>>
      namespaces;  // all that were made: emptied at the end, since they can be cyclic
};

/// `input|name(args)`. Errors: evaluation, also for an unknown name; limit.
result<value> apply_filter(services& with, std::string_view name, const value& input, const call_arguments& args);

/// `input is name(args)`.
result<bool> apply_test(services& with, std::string_view name, const value& input, const call_arguments& args);
bool has_test(std::string_view name);
bool has_filter(std::string_view name);

bool has_method(const value& of, std::string_view name);
result<value> call_method(services& with, const value& self, std::string_view name, const call_arguments& args);

bool has_global(std::string_view name);
result<value> call_global(services& with, std::string_view name, const call_arguments& args);

/// obj.name: a method or field, else the item of that name, else undefined. Errors: evaluation, on undefined.
result<value> get_attribute(const value& of, std::string_view name);
/// obj[index]: the item, else the method or field of that name, else undefined.
result<value> get_item(const value& of, const value& index);
/// "a.b.0" step by step with get_item; an integer is one step.
result<value> get_path(const value& of, const value& path);

}  // namespace infer::templates
