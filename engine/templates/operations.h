// What operators do with values, as Python does it.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "engine/templates/budget.h"
#include "engine/templates/evaluated.h"
#include "engine/templates/value.h"

namespace infer::templates {

bool is_true(const value& of);

/// Python's ==. Walks both values.
bool equal(const value& a, const value& b);

/// Python's order of numbers, strings and lists. Errors: evaluation, where there is none.
evaluated<std::partial_ordering> order(const value& a, const value& b);

/// How many bytes a comparison may look at.
std::uint64_t comparison_cost(std::string_view op, const value& a, const value& b);

/// One of == != < <= > >= in, "not in".
evaluated<bool> compare(std::string_view op, const value& a, const value& b);

/// One of + - * / // % **.
evaluated<value> arithmetic(std::string_view op, const value& a, const value& b, budget& spent);

evaluated<value> negated(const value& of);

/// `pattern % values`.
evaluated<value> format_percent(const text& pattern, const value& values, budget& spent);

/// What a for loop runs over: items, keys, characters. Errors: evaluation, for values that are not iterable.
evaluated<std::vector<value>> items_of(const value& of, budget& spent);
/// The same as a shared sequence, without a copy where it is one.
evaluated<std::shared_ptr<const sequence>> sequence_of(const value& of, budget& spent);

/// Python's len(). Errors: evaluation.
evaluated<std::int64_t> length_of(const value& of);

/// Errors: evaluation, for undefined values, naming what was undefined.
error undefined_error(const value& of);

/// obj[index]: the item, or undefined.
evaluated<value> subscript(const value& of, const value& index);

struct slice_bounds {
  std::optional<std::int64_t> start, stop, step;
};
evaluated<value> slice(const value& of, const slice_bounds& bounds);

}  // namespace infer::templates
