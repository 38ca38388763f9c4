// The methods of strings. Offsets count characters.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "engine/templates/method_table.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"
#include "engine/templates/text_functions.h"
#include "engine/templates/text_search.h"
#include "engine/templates/unicode.h"

namespace infer::templates {
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

// The part of a string that a search with start and end looks at.
struct window {
  std::string_view view;
  std::size_t skipped = 0;  // characters before it
};

// What the arguments from `index` on leave of `of`, as a slice does; nothing where they leave less than none: there is
// not even an empty string there.
evaluated<std::optional<window>> window_of(std::string_view of, args_t args, std::size_t index) {
  INFER_TRY(const auto start, args.bound(index, "start"));
  INFER_TRY(const auto end, args.bound(index + 1, "end"));
  if (!start && !end) return window{of};
  const auto size = static_cast<std::int64_t>(count_characters(of));
  const auto counted = [&](std::int64_t at) { return std::max<std::int64_t>(at < 0 ? at + size : at, 0); };
  const std::int64_t first = counted(start.value_or(0)), last = std::min(counted(end.value_or(size)), size);
  if (first > last) return std::optional<window>();
  const auto skipped = static_cast<std::size_t>(first);
  of.remove_prefix(offset_of_character(of, skipped));
  return window{of.substr(0, offset_of_character(of, static_cast<std::size_t>(last - first))), skipped};
}

template <bool Left, bool Right>
evaluated<value> strip_method(services& with, const value& self, args_t args) {
  INFER_TRY(const text* set, optional_text(args, 0, "chars"));
  if (set != nullptr) {
    INFER_TRYV(with.spent.spend_bytes(set->size()));
  }
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
  INFER_TRY(const auto part, window_of(self_text(self).view(), args, 1));
  for (const value& one : affixes) {
    const text* string = one.as_text();
    if (string == nullptr) {
      return fail(fault::evaluation, "first arg must be str or a tuple of str, not " + std::string(type_name(one)));
    }
    if (part && (AtStart ? part->view.starts_with(string->view()) : part->view.ends_with(string->view())))
      return value(true);
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
  INFER_TRY(const text* sought, needed_text(args, 0, "sub"));
  INFER_TRY(const auto part, window_of(self_text(self).view(), args, 1));
  const std::size_t found = !part       ? std::string_view::npos
                            : FromRight ? find_last(part->view, sought->view())
                                        : find_first(part->view, sought->view());
  if (found == std::string_view::npos) {
    if (Required) return fail(fault::evaluation, "substring not found");
    return value(std::int64_t{-1});
  }
  return value(static_cast<std::int64_t>(part->skipped + count_characters(part->view.substr(0, found))));
}

evaluated<value> count_text(services&, const value& self, args_t args) {
  INFER_TRY(const text* sought, needed_text(args, 0, "sub"));
  INFER_TRY(const auto part, window_of(self_text(self).view(), args, 1));
  if (!part) return value(std::int64_t{0});
  if (sought->empty()) return value(static_cast<std::int64_t>(count_characters(part->view)) + 1);
  return value(static_cast<std::int64_t>(count_occurrences(part->view, sought->view())));
}

template <bool FromRight>
evaluated<value> partition(services&, const value& self, args_t args) {
  INFER_TRY(const text* separator, needed_text(args, 0, "sep"));
  if (separator->empty()) return fail(fault::evaluation, "empty separator");
  const text& of = self_text(self);
  const std::size_t at = FromRight ? find_last(of.view(), separator->view()) : find_first(of.view(), separator->view());
  if (at == std::string_view::npos) {
    const value none = value(text());
    return FromRight ? value::tuple({none, none, self}) : value::tuple({self, none, none});
  }
  const std::size_t end = at + separator->size();
  return value::tuple({value(of.slice(0, at)), value(of.slice(at, end)), value(of.slice(end, of.size()))});
}

// How many characters `self` has less than the width asked for; nothing to fill where it is not positive.
evaluated<std::int64_t> missing_characters(services& with, const value& self, args_t args, std::size_t fill_bytes) {
  const value* given = args.get(0, "width");
  if (given == nullptr) return fail(fault::evaluation, "argument 'width' is missing");
  INFER_TRY(const std::int64_t width, args.integer(0, "width", 0));
  const auto size = static_cast<std::int64_t>(count_characters(self_text(self).view()));
  if (width <= size) return std::int64_t{0};
  const std::int64_t missing = width - size;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(missing), fill_bytes, &bytes)) bytes = UINT64_MAX;
  INFER_TRYV(with.spent.spend_bytes(bytes));
  return missing;
}

std::string repeated(std::string_view bytes, std::int64_t times) {
  std::string made;
  made.reserve(bytes.size() * static_cast<std::size_t>(times));
  for (std::int64_t i = 0; i < times; ++i) made += bytes;
  return made;
}

enum class side { left, right, both };  // where the fill goes

template <side Filled>
evaluated<value> justify(services& with, const value& self, args_t args) {
  INFER_TRY(const text fill, args.string(1, "fillchar", " "));
  if (fill.empty() || first_character(fill.view()).bytes != fill.size())
    return fail(fault::evaluation, "The fill character must be exactly one character long");
  INFER_TRY(const std::int64_t missing, missing_characters(with, self, args, fill.size()));
  if (missing == 0) return self;
  const std::int64_t width = *args.get(0, "width")->as_integer();
  const std::int64_t before = Filled == side::left    ? missing
                              : Filled == side::right ? 0
                                                      : missing / 2 + (missing & width & 1);  // Python's choice
  const bool from_template = std::ranges::all_of(fill.runs(), &text::run::from_template);
  text made(repeated(fill.view(), before), from_template);
  made.append(self_text(self));
  made.append(repeated(fill.view(), missing - before), from_template);
  return value(std::move(made));
}

evaluated<value> zfill(services& with, const value& self, args_t args) {
  INFER_TRY(const std::int64_t missing, missing_characters(with, self, args, 1));
  if (missing == 0) return self;
  const text& of = self_text(self);
  const std::size_t sign = of.view().starts_with('-') || of.view().starts_with('+') ? 1 : 0;
  text made = of.slice(0, sign);
  made.append(std::string(static_cast<std::size_t>(missing), '0'), true);
  made.append(of.slice(sign, of.size()));
  return value(std::move(made));
}

evaluated<value> format_method(services& with, const value& self, args_t args) {
  INFER_TRY(auto made, format(with.spent, self_text(self), args.positional, args.named));
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

bool is_ascii(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

bool is_letter_or_digit(char32_t code) {
  return is_letter(code) || is_digit(code);
}

template <bool (*Test)(std::string_view)>
evaluated<value> whole(services&, const value& self, args_t) {
  return value(Test(self_text(self).view()));
}

constexpr std::array<method_entry, 39> table = {{
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
    {"partition", partition<false>},
    {"rpartition", partition<true>},
    {"replace", replace_method},
    {"upper", changed<to_upper>},
    {"lower", changed<to_lower>},
    {"casefold", changed<to_lower>},
    {"title", changed<title_case>},
    {"swapcase", changed<swap_case>},
    {"capitalize", changed<capitalize>},
    {"find", find_method<false, false>},
    {"rfind", find_method<true, false>},
    {"index", find_method<false, true>},
    {"rindex", find_method<true, true>},
    {"count", count_text},
    {"center", justify<side::both>},
    {"ljust", justify<side::right>},
    {"rjust", justify<side::left>},
    {"zfill", zfill},
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
    {"isascii", whole<is_ascii>},
}};

}  // namespace

std::span<const method_entry> text_methods() {
  return table;
}

}  // namespace infer::templates
