// The methods of dictionaries, lists and loops, and how methods are found. None changes its object.
#include <algorithm>
#include <array>

#include "engine/templates/method_table.h"
#include "engine/templates/operations.h"

namespace infer::templates {
namespace {

using args_t = const call_arguments&;

evaluated<value> keys(services& with, const value& self, args_t) {
  INFER_TRY(auto items, items_of(self, with.spent));
  return value::make(sequence_kind::keys_view, std::move(items));
}

evaluated<value> values(services&, const value& self, args_t) {
  std::vector<value> items;
  for (const auto& [key, item] : self.as_dictionary()->entries) items.push_back(item);
  return value::make(sequence_kind::values_view, std::move(items));
}

evaluated<value> items(services&, const value& self, args_t) {
  std::vector<value> pairs;
  for (const auto& [key, item] : self.as_dictionary()->entries) pairs.push_back(value::tuple({key, item}));
  return value::make(sequence_kind::items_view, std::move(pairs));
}

evaluated<value> get(services&, const value& self, args_t args) {
  const value* key = args.get(0, "key");
  if (key == nullptr) return fail(fault::evaluation, "get expected at least 1 argument, got 0");
  if (key->as_text() == nullptr && !dictionary_key(*key))
    return fail(fault::evaluation, "unhashable type: '" + std::string(type_name(*key)) + "'");
  if (const value* found = self.as_dictionary()->find(*key)) return *found;
  const value* otherwise = args.get(1, "default");
  return otherwise == nullptr ? value(none_value{}) : *otherwise;
}

evaluated<value> copy(services&, const value& self, args_t) {
  return self;
}

evaluated<value> index_of(services& with, const value& self, args_t args) {
  const value* sought = args.get(0, "value");
  if (sought == nullptr) return fail(fault::evaluation, "index expected at least 1 argument, got 0");
  const auto& list = self.as_sequence()->items;
  const auto size = static_cast<std::int64_t>(list.size());
  INFER_TRY(const auto start, args.bound(1, "start"));
  INFER_TRY(const auto end, args.bound(2, "end"));
  const auto counted = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
  for (std::int64_t i = counted(start.value_or(0)); i < counted(end.value_or(size)); ++i) {
    const value& item = list[static_cast<std::size_t>(i)];
    INFER_TRYV(with.spent.spend_bytes(comparison_cost("==", item, *sought)));
    if (equal(item, *sought)) return value(i);
  }
  return fail(fault::evaluation, "the item is not in the list");
}

evaluated<value> count_items(services& with, const value& self, args_t args) {
  const value* sought = args.get(0, "value");
  if (sought == nullptr) return fail(fault::evaluation, "count expected 1 argument, got 0");
  std::int64_t count = 0;
  for (const value& item : self.as_sequence()->items) {
    INFER_TRYV(with.spent.spend_bytes(comparison_cost("==", item, *sought)));
    count += equal(item, *sought) ? 1 : 0;
  }
  return value(count);
}

evaluated<value> cycle(services&, const value& self, args_t args) {
  if (args.positional.empty()) return fail(fault::evaluation, "no items for cycling given");
  return args.positional[self.as_loop()->index % args.positional.size()];
}

constexpr std::array<method_entry, 5> of_dictionary_table = {
    {{"keys", keys}, {"values", values}, {"items", items}, {"get", get, false}, {"copy", copy}}};
constexpr std::array<method_entry, 3> of_list_table = {{{"index", index_of}, {"count", count_items}, {"copy", copy}}};
constexpr std::array<method_entry, 1> of_loop_table = {{{"cycle", cycle}}};

const method_entry* find(std::span<const method_entry> table, std::string_view name) {
  for (const method_entry& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

methods methods::named(std::string_view name) {
  return {.of_text = find(text_methods(), name),
          .of_dictionary = find(of_dictionary_table, name),
          .of_list = find(of_list_table, name),
          .of_loop = find(of_loop_table, name)};
}

const method_entry* methods::of(const value& object) const {
  if (object.as_text() != nullptr) return of_text;
  if (object.as_dictionary() != nullptr) return of_dictionary;
  if (object.as_loop() != nullptr) return of_loop;
  const sequence* list = object.as_sequence();
  if (list == nullptr) return nullptr;
  return list->kind == sequence_kind::list || list->kind == sequence_kind::tuple ? of_list : nullptr;
}

evaluated<value> call_method(services& with, const value& self, const method_entry& row, const call_arguments& args) {
  INFER_TRYV(with.spent.spend_bytes(row.walks_self ? self.own_bytes() : 0));
  return row.call(with, self, args);
}

evaluated<value> call_method(services& with, const value& self, std::string_view name, const call_arguments& args) {
  if (const method_entry* row = methods::named(name).of(self)) return call_method(with, self, *row, args);
  return fail(fault::evaluation, "no method '" + std::string(name) + "'");
}

}  // namespace infer::templates
