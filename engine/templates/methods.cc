// The methods of strings, dictionaries and lists. None changes its object.
#include <algorithm>
#include <array>
#include <span>

#include "engine/templates/builtins.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"
#include "engine/templates/text_functions.h"
#include "engine/templates/unicode.h"

namespace infer::templates {

struct method_entry {
  std::string_view name;
  evaluated<value> (*call)(services&, const value&, const call_arguments&);
  bool walks_self = true;  // rather than to look one item up
};

namespace {

using args_t = const call_arguments&;

const text& self_text(const value& self) {
  return *self.as_text();
}

// The string argument at `index`; null where it is absent or none.
evaluated<const text*> optional_text(args_t args, std::size_t index, std::string_view name) {
  const value* given = args.get(index, name);
  if (given == nullptr || given->is_none()) return static_cast<const text*>(nullptr);
  if (const text* string = given->as_text()) return string;
  return fail(fault::evaluation, "expected a string, not " + std::string(type_name(*given)));
}

evaluated<const text*> needed_text(args_t args, std::size_t index, std::string_view name) {
  INFER_TRY(const text* given, optional_text(args, index, name));
  if (given == nullptr) return fail(fault::evaluation, "argument '" + std::string(name) + "' is missing or None");
  return given;
}

template <bool Left, bool Right>
evaluated<value> strip_method(services&, const value& self, args_t args) {
  INFER_TRY(const text* set, optional_text(args, 0, "chars"));
  text made = strip(self_text(self), set, Left, Right);
  return made.size() == self_text(self).size() ? self : value(std::move(made));
}

value list_of(std::vector<text> parts) {
  std::vector<value> items;
  items.reserve(parts.size());
  for (text& part : parts) items.emplace_back(std::move(part));
  return value::list(std::move(items));
}

template <bool FromRight>
evaluated<value> split_method(services& with, const value& self, args_t args) {
  INFER_TRY(const text* separator, optional_text(args, 0, "sep"));
  INFER_TRY(const std::int64_t count, args.integer(1, "maxsplit", -1));
  INFER_TRY(auto parts, split(with.spent, self_text(self), separator, count, FromRight));
  return list_of(std::move(parts));
}

evaluated<value> splitlines(services& with, const value& self, args_t args) {
  INFER_TRYV(with.spent.spend(8 * static_cast<std::uint64_t>(std::ranges::count(self_text(self).view(), '\n'))));
  return list_of(split_lines(self_text(self), args.flag(0, "keepends", false)));
}

template <bool AtStart>
evaluated<value> affix(services&, const value& self, args_t args) {
  const value* given = args.get(0, "prefix");
  if (given == nullptr) return fail(fault::evaluation, "startswith and endswith need an argument");
  std::span<const value> affixes(given, 1);
  if (const sequence* several = given->as_sequence(); several != nullptr && several->kind == sequence_kind::tuple) {
    affixes = several->items;
  }
  for (const value& one : affixes) {
    const text* string = one.as_text();
    if (string == nullptr) {
      return fail(fault::evaluation, "first arg must be str or a tuple of str, not " + std::string(type_name(one)));
    }
    const std::string_view view = self_text(self).view();
    if (AtStart ? view.starts_with(string->view()) : view.ends_with(string->view())) return value(true);
  }
  return value(false);
}

template <bool AtStart>
evaluated<value> remove_affix(services&, const value& self, args_t args) {
  INFER_TRY(const text* part, needed_text(args, 0, "prefix"));
  const text& of = self_text(self);
  if (AtStart && of.view().starts_with(part->view())) return value(of.slice(part->size(), of.size()));
  if (!AtStart && of.view().ends_with(part->view())) return value(of.slice(0, of.size() - part->size()));
  return self;
}

evaluated<value> replace_method(services& with, const value& self, args_t args) {
  INFER_TRY(const text* from, needed_text(args, 0, "old"));
  INFER_TRY(const text* to, needed_text(args, 1, "new"));
  INFER_TRY(const std::int64_t count, args.integer(2, "count", -1));
  INFER_TRY(auto made, replace(with.spent, self_text(self), *from, *to, count));
  return value(std::move(made));
}

template <std::string (*Change)(std::string_view)>
evaluated<value> changed(services&, const value& self, args_t) {
  return value::data(Change(self_text(self).view()));
}

template <bool FromRight, bool Required>
evaluated<value> find_method(services&, const value& self, args_t args) {
  INFER_TRY(const text* part, needed_text(args, 0, "sub"));
  const std::string_view view = self_text(self).view();
  const std::size_t found = FromRight ? view.rfind(part->view()) : view.find(part->view());
  if (found == std::string_view::npos) {
    if (Required) return fail(fault::evaluation, "substring not found");
    return value(std::int64_t{-1});
  }
  return value(static_cast<std::int64_t>(count_characters(view.substr(0, found))));
}

evaluated<value> count_text(services&, const value& self, args_t args) {
  INFER_TRY(const text* part, needed_text(args, 0, "sub"));
  const std::string_view view = self_text(self).view();
  if (part->empty()) return value(static_cast<std::int64_t>(count_characters(view)) + 1);
  std::int64_t count = 0;
  for (std::size_t at = 0; (at = view.find(part->view(), at)) != std::string_view::npos; at += part->size()) ++count;
  return value(count);
}

evaluated<value> format_method(services&, const value& self, args_t args) {
  INFER_TRY(auto made, format(self_text(self), args.positional, args.named));
  return value(std::move(made));
}

evaluated<value> join_method(services& with, const value& self, args_t args) {
  const value* given = args.get(0, "iterable");
  if (given == nullptr) return fail(fault::evaluation, "join needs an argument");
  INFER_TRY(const auto items, items_of(*given, with.spent));
  std::vector<text> parts;
  for (const value& item : items) {
    if (item.as_text() == nullptr) {
      return fail(fault::evaluation, "sequence item " + std::to_string(parts.size()) + ": expected str instance, " +
                                         std::string(type_name(item)) + " found");
    }
    parts.push_back(*item.as_text());
  }
  INFER_TRY(auto made, join(with.spent, self_text(self), parts));
  return value(std::move(made));
}

template <bool (*Test)(char32_t)>
evaluated<value> every(services&, const value& self, args_t) {
  const std::string_view view = self_text(self).view();
  for (std::size_t at = 0; at < view.size();) {
    const character one = first_character(view.substr(at));
    if (!Test(one.code)) return value(false);
    at += one.bytes;
  }
  return value(!view.empty());
}

bool is_letter_or_digit(char32_t code) {
  return is_letter(code) || is_digit(code);
}

template <bool (*Test)(std::string_view)>
evaluated<value> whole(services&, const value& self, args_t) {
  return value(Test(self_text(self).view()));
}

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

evaluated<value> index_of(services&, const value& self, args_t args) {
  const auto& list = self.as_sequence()->items;
  for (std::size_t i = 0; i < list.size() && !args.positional.empty(); ++i) {
    if (equal(list[i], args.positional[0])) return value(static_cast<std::int64_t>(i));
  }
  return fail(fault::evaluation, "the item is not in the list");
}

evaluated<value> count_items(services&, const value& self, args_t args) {
  std::int64_t count = 0;
  for (const value& item : self.as_sequence()->items)
    count += !args.positional.empty() && equal(item, args.positional[0]);
  return value(count);
}

evaluated<value> cycle(services&, const value& self, args_t args) {
  if (args.positional.empty()) return fail(fault::evaluation, "no items for cycling given");
  return args.positional[self.as_loop()->index % args.positional.size()];
}

constexpr std::array<method_entry, 31> of_text_table = {{
    {"strip", strip_method<true, true>},
    {"lstrip", strip_method<true, false>},
    {"rstrip", strip_method<false, true>},
    {"split", split_method<false>},
    {"rsplit", split_method<true>},
    {"splitlines", splitlines},
    {"startswith", affix<true>},
    {"endswith", affix<false>},
    {"removeprefix", remove_affix<true>},
    {"removesuffix", remove_affix<false>},
    {"replace", replace_method},
    {"upper", changed<to_upper>},
    {"lower", changed<to_lower>},
    {"casefold", changed<to_lower>},
    {"title", changed<title_case>},
    {"capitalize", changed<capitalize>},
    {"find", find_method<false, false>},
    {"rfind", find_method<true, false>},
    {"index", find_method<false, true>},
    {"rindex", find_method<true, true>},
    {"count", count_text},
    {"format", format_method},
    {"join", join_method},
    {"isdigit", every<is_digit>},
    {"isdecimal", every<is_digit>},
    {"isnumeric", every<is_digit>},
    {"isalpha", every<is_letter>},
    {"isalnum", every<is_letter_or_digit>},
    {"isspace", every<is_space>},
    {"isupper", whole<is_upper>},
    {"islower", whole<is_lower>},
}};

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
  return {.of_text = find(of_text_table, name),
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
