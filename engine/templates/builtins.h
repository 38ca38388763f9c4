// The filters, tests, methods and global functions that templates may use.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/templates/budget.h"
#include "engine/templates/evaluated.h"
#include "engine/templates/value.h"

namespace infer::templates {

struct filter_entry;
struct global_entry;
struct method_entry;
struct test_entry;

/// The arguments of one call, evaluated.
struct call_arguments {
  std::vector<value> positional;
  std::vector<std::pair<std::string, value>> named;

  /// The argument at `index` or of that name; null where it was not given.
  const value* get(std::size_t index, std::string_view name) const;
  bool flag(std::size_t index, std::string_view name, bool otherwise) const;
  /// Errors: evaluation, where the argument is given and is no integer.
  evaluated<std::int64_t> integer(std::size_t index, std::string_view name, std::int64_t otherwise) const;
  /// One end of a slice: nothing where it is none or not given. Errors as of integer().
  evaluated<std::optional<std::int64_t>> bound(std::size_t index, std::string_view name) const;
  /// The string argument, or `otherwise`. Errors: evaluation, for another type.
  evaluated<text> string(std::size_t index, std::string_view name, std::string_view otherwise) const;
};

/// What built-ins may use of the rendering they are called from.
struct services {
  budget spent;
  std::tm now{};
  std::vector<std::shared_ptr<name_space>>
      namespaces;  // all that were made: emptied at the end, since they can be cyclic
};

// Rows of the tables of built-ins, found by name; null where there is none.
const filter_entry* find_filter(std::string_view name);
const test_entry* find_test(std::string_view name);
const global_entry* find_global(std::string_view name);

/// `input|name(args)`. Errors: evaluation, limit; of the second form also where there is no such filter.
evaluated<value> apply_filter(services& with, const filter_entry& row, const value& input, const call_arguments& args);
evaluated<value> apply_filter(services& with, std::string_view name, const value& input, const call_arguments& args);

/// `input is name(args)`. Errors as of apply_filter.
evaluated<bool> apply_test(services& with, const test_entry& row, const value& input, const call_arguments& args);
evaluated<bool> apply_test(services& with, std::string_view name, const value& input, const call_arguments& args);

/// The methods that a name may mean, by what it is asked of; null where there is none.
struct methods {
  const method_entry* of_text = nullptr;
  const method_entry* of_dictionary = nullptr;
  const method_entry* of_list = nullptr;
  const method_entry* of_loop = nullptr;

  static methods named(std::string_view name);
  const method_entry* of(const value& object) const;
};
evaluated<value> call_method(services& with, const value& self, const method_entry& row, const call_arguments& args);
evaluated<value> call_method(services& with, const value& self, std::string_view name, const call_arguments& args);

evaluated<value> call_global(services& with, const global_entry& row, const call_arguments& args);
evaluated<value> call_global(services& with, std::string_view name, const call_arguments& args);

/// What `.name` and `["name"]` may mean.
struct member {
  explicit member(std::string_view name);

  value key;                                  // the name as a key
  methods bound;                              // the methods of that name
  bool hides_entries = false;                 // of dictionaries, where the name follows a dot
  std::shared_ptr<const std::string> absent;  // what is said where a dictionary has neither
  std::string_view name() const { return key.as_text()->view(); }
};

/// obj.name: a method or field, else the item of that name, else undefined. Errors: evaluation, on undefined.
evaluated<value> get_attribute(const value& of, const member& which);
/// obj[index]: the item, else the method or field of that name, else undefined.
evaluated<value> get_item(const value& of, const member& which);
evaluated<value> get_item(const value& of, const value& index);
/// What get_attribute and get_item would copy, where it lies inside `of`; null where they make it or fail. It stays
/// while nothing assigns.
const value* held_attribute(const value& of, const member& which);
const value* held_item(const value& of, const member& which);
const value* held_item(const value& of, const value& index);
/// "a.b.0" step by step with get_item; an integer is one step.
evaluated<value> get_path(const value& of, const value& path);

}  // namespace infer::templates
