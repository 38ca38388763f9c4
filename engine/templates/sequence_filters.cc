// Filters over lists, dictionaries and whatever is iterable.
#include <algorithm>
#include <array>
#include <iterator>
#include <list>

#include "engine/templates/filter_table.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"
#include "engine/templates/text_functions.h"
#include "engine/templates/unicode.h"

namespace infer::templates {
namespace {

using args_t = const call_arguments&;

evaluated<value> default_value(services&, const value& input, args_t args) {
  if (!input.is_undefined() && !(args.flag(1, "boolean", false) && !is_true(input))) return input;
  const value* given = args.get(0, "default_value");
  return given == nullptr ? value(text()) : *given;
}

evaluated<value> length(services&, const value& input, args_t) {
  INFER_TRY(const std::int64_t count, length_of(input));
  return value(count);
}

evaluated<value> first(services& with, const value& input, args_t) {
  INFER_TRY(const auto items, items_of(input, with.spent));
  return items.empty() ? value::undefined("No first item, sequence was empty.") : items.front();
}

evaluated<value> last(services& with, const value& input, args_t) {
  const sequence* of = input.as_sequence();
  if (of != nullptr && of->kind == sequence_kind::generator) {
    return fail(fault::evaluation, "'generator' object is not reversible");
  }
  INFER_TRY(const auto items, items_of(input, with.spent));
  return items.empty() ? value::undefined("No last item, sequence was empty.") : items.back();
}

evaluated<value> join_filter(services& with, const value& input, args_t args) {
  const value* given = args.get(0, "d");
  const value* attribute = args.get(1, "attribute");
  INFER_TRYV(with.spent.spend_bytes(input.weight()));
  INFER_TRY(const auto items, items_of(input, with.spent));
  std::vector<text> parts;
  parts.reserve(items.size());
  for (const value& item : items) {
    if (attribute == nullptr || attribute->is_none()) {
      parts.push_back(to_text(item));
    } else {
      INFER_TRY(const value field, get_path(item, *attribute));
      parts.push_back(to_text(field));
    }
  }
  INFER_TRY(auto made, join(with.spent, given == nullptr ? text() : to_text(*given), parts));
  return value(std::move(made));
}

evaluated<value> list(services& with, const value& input, args_t) {
  INFER_TRY(auto items, items_of(input, with.spent));
  return value::list(std::move(items));
}

evaluated<value> items(services&, const value& input, args_t) {
  if (input.is_undefined()) return value::generator({});
  const dictionary* of = input.as_dictionary();
  if (of == nullptr) return fail(fault::evaluation, "Can only get item pairs from a mapping.");
  std::vector<value> pairs;
  for (const auto& [key, item] : of->entries) pairs.push_back(value::tuple({key, item}));
  return value::generator(std::move(pairs));
}

evaluated<value> reverse(services& with, const value& input, args_t) {
  INFER_TRY(auto of, items_of(input, with.spent));
  std::reverse(of.begin(), of.end());
  if (input.as_text() == nullptr) return value::generator(std::move(of));
  text made;
  for (const value& item : of) made.append(*item.as_text());
  return value(std::move(made));
}

// The arguments from `count` on, for a filter or test that is named by an argument.
call_arguments rest_of(args_t args, std::size_t count) {
  call_arguments rest;
  rest.positional.assign(args.positional.begin() + static_cast<std::ptrdiff_t>(std::min(count, args.positional.size())),
                         args.positional.end());
  rest.named = args.named;
  return rest;
}

evaluated<value> map(services& with, const value& input, args_t args) {
  if (!is_true(input)) return value::generator({});
  INFER_TRY(const auto of, items_of(input, with.spent));
  std::vector<value> made;
  made.reserve(of.size());
  const value* attribute = args.positional.empty() ? args.get(0, "attribute") : nullptr;
  const value* otherwise = args.positional.empty() ? args.get(99, "default") : nullptr;
  if (attribute == nullptr && (args.positional.empty() || args.positional[0].as_text() == nullptr)) {
    return fail(fault::evaluation, "map requires a filter argument");
  }
  for (const value& item : of) {
    value one;
    if (attribute != nullptr) {
      INFER_TRY(one, get_path(item, *attribute));
      if (one.is_undefined() && otherwise != nullptr) one = *otherwise;
    } else {
      INFER_TRY(one, apply_filter(with, args.positional[0].as_text()->view(), item, rest_of(args, 1)));
    }
    made.push_back(std::move(one));
  }
  return value::generator(std::move(made));
}

template <bool Wanted, bool ByAttribute>
evaluated<value> select(services& with, const value& input, args_t args) {
  if (!is_true(input)) return value::generator({});
  constexpr std::size_t test_at = ByAttribute ? 1 : 0;
  if (ByAttribute && args.positional.empty()) return fail(fault::evaluation, "Missing parameter for attribute name");
  const bool has_name = args.positional.size() > test_at;
  if (has_name && args.positional[test_at].as_text() == nullptr)
    return fail(fault::evaluation, "a test must be a name");
  const call_arguments rest = rest_of(args, test_at + 1);
  INFER_TRY(const auto of, items_of(input, with.spent));
  std::vector<value> kept;
  for (const value& item : of) {
    value subject = item;
    if (ByAttribute) {
      INFER_TRY(subject, get_path(item, args.positional[0]));
    }
    bool holds = is_true(subject);
    if (has_name) {
      INFER_TRY(holds, apply_test(with, args.positional[test_at].as_text()->view(), subject, rest));
    }
    if (holds == Wanted) kept.push_back(item);
  }
  return value::generator(std::move(kept));
}

struct keyed {
  value key;
  value item;
};

// What to compare an item by: its attribute, strings without case unless asked.
evaluated<value> sort_key(const value& item, const value* attribute, bool case_sensitive) {
  value key = item;
  if (attribute != nullptr && !attribute->is_none()) {
    INFER_TRY(key, get_path(item, *attribute));
  }
  if (!case_sensitive && key.as_text() != nullptr) return value::data(to_lower(key.as_text()->view()));
  return key;
}

evaluated<std::vector<keyed>> keyed_items(services& with, const std::vector<value>& of, const value* attribute,
                                          bool case_sensitive) {
  std::vector<keyed> made;
  made.reserve(of.size());
  for (const value& item : of) {
    INFER_TRYV(with.spent.spend_bytes(item.weight()));
    INFER_TRY(auto key, sort_key(item, attribute, case_sensitive));
    made.push_back({std::move(key), item});
  }
  return made;
}

// A stable sort whose comparison may fail. A list's merge sort stays in bounds whatever the comparison answers.
evaluated<void> stable_sort(std::vector<keyed>& of, bool reverse) {
  std::optional<error> failed;
  std::list<keyed> sorted(std::make_move_iterator(of.begin()), std::make_move_iterator(of.end()));
  sorted.sort([&](const keyed& a, const keyed& b) {
    if (failed) return false;
    const auto sign = reverse ? order(b.key, a.key) : order(a.key, b.key);
    if (!sign) failed = sign.error();
    return sign && sign.value() < 0;
  });
  if (failed) return fail(std::move(*failed));
  of.assign(std::make_move_iterator(sorted.begin()), std::make_move_iterator(sorted.end()));
  return success();
}

value list_of_items(std::vector<keyed> of) {
  std::vector<value> made;
  made.reserve(of.size());
  for (keyed& one : of) made.push_back(std::move(one.item));
  return value::list(std::move(made));
}

evaluated<value> sort(services& with, const value& input, args_t args) {
  INFER_TRY(const auto of, items_of(input, with.spent));
  INFER_TRYV(with.spent.spend(of.size() * 20));
  INFER_TRY(auto pairs, keyed_items(with, of, args.get(2, "attribute"), args.flag(1, "case_sensitive", false)));
  INFER_TRYV(stable_sort(pairs, args.flag(0, "reverse", false)));
  return list_of_items(std::move(pairs));
}

evaluated<value> dictsort(services& with, const value& input, args_t args) {
  const dictionary* of = input.as_dictionary();
  if (of == nullptr)
    return fail(fault::evaluation, "'" + std::string(type_name(input)) + "' object has no attribute 'items'");
  INFER_TRY(const text by, args.string(1, "by", "key"));
  if (by.view() != "key" && by.view() != "value")
    return fail(fault::evaluation, "You can only sort by either \"key\" or \"value\"");
  INFER_TRYV(with.spent.spend(of->entries.size() * 20));
  std::vector<keyed> pairs;
  for (const auto& [key, item] : of->entries) {
    INFER_TRY(auto compared, sort_key(by.view() == "key" ? key : item, nullptr, args.flag(0, "case_sensitive", false)));
    pairs.push_back({std::move(compared), value::tuple({key, item})});
  }
  INFER_TRYV(stable_sort(pairs, args.flag(2, "reverse", false)));
  return list_of_items(std::move(pairs));
}

evaluated<value> unique(services& with, const value& input, args_t args) {
  INFER_TRY(const auto of, items_of(input, with.spent));
  INFER_TRY(auto pairs, keyed_items(with, of, args.get(1, "attribute"), args.flag(0, "case_sensitive", false)));
  dictionary seen;
  std::vector<value> made;
  for (keyed& one : pairs) {
    INFER_TRYV(with.spent.spend(1));
    if (seen.find(one.key) != nullptr) continue;
    if (!seen.put(one.key, value(true)))
      return fail(fault::evaluation, "unhashable type: '" + std::string(type_name(one.key)) + "'");
    made.push_back(std::move(one.item));
  }
  return value::generator(std::move(made));
}

evaluated<value> sum(services& with, const value& input, args_t args) {
  const value *attribute = args.get(0, "attribute"), *start = args.get(1, "start");
  value total = start == nullptr ? value(std::int64_t{0}) : *start;
  INFER_TRY(const auto of, items_of(input, with.spent));
  for (const value& item : of) {
    value one = item;
    if (attribute != nullptr && !attribute->is_none()) {
      INFER_TRY(one, get_path(item, *attribute));
    }
    INFER_TRY(total, arithmetic("+", total, one, with.spent));
  }
  return total;
}

template <bool Largest>
evaluated<value> extreme(services& with, const value& input, args_t args) {
  INFER_TRY(const auto of, items_of(input, with.spent));
  if (of.empty()) return value::undefined("No aggregated item, sequence was empty.");
  INFER_TRY(auto pairs, keyed_items(with, of, args.get(1, "attribute"), args.flag(0, "case_sensitive", false)));
  std::size_t best = 0;
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    INFER_TRY(const auto sign, order(pairs[i].key, pairs[best].key));
    if (Largest ? sign > 0 : sign < 0) best = i;
  }
  return pairs[best].item;
}

evaluated<value> batch(services& with, const value& input, args_t args) {
  INFER_TRY(const std::int64_t count, args.integer(0, "linecount", 0));
  if (count <= 0) return fail(fault::evaluation, "batch needs a positive count");
  const value* fill = args.get(1, "fill_with");
  INFER_TRY(const auto of, items_of(input, with.spent));
  std::vector<value> rows, row;
  for (const value& item : of) {
    row.push_back(item);
    if (static_cast<std::int64_t>(row.size()) == count) rows.push_back(value::list(std::exchange(row, {})));
  }
  if (!row.empty()) {
    if (fill != nullptr && !fill->is_none() && count < 10000) row.resize(static_cast<std::size_t>(count), *fill);
    rows.push_back(value::list(std::move(row)));
  }
  return value::generator(std::move(rows));
}

evaluated<value> attribute_filter(services&, const value& input, args_t args) {
  INFER_TRY(const text name, args.string(0, "name", ""));
  return get_attribute(input, member(name.view()));
}

constexpr std::array<filter_entry, 23> table = {{
    {"default", default_value},
    {"d", default_value},
    {"length", length},
    {"count", length},
    {"first", first},
    {"last", last},
    {"join", join_filter},
    {"list", list},
    {"items", items},
    {"reverse", reverse},
    {"map", map},
    {"select", select<true, false>},
    {"reject", select<false, false>},
    {"selectattr", select<true, true>},
    {"rejectattr", select<false, true>},
    {"sort", sort},
    {"dictsort", dictsort},
    {"unique", unique},
    {"sum", sum},
    {"min", extreme<false>},
    {"max", extreme<true>},
    {"batch", batch},
    {"attr", attribute_filter},
}};

}  // namespace

std::span<const filter_entry> sequence_filters() {
  return table;
}

}  // namespace infer::templates
