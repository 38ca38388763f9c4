// Arguments, attributes and items.
#include <algorithm>
#include <array>
#include <charconv>

#include "engine/templates/builtins.h"
#include "engine/templates/operations.h"

namespace infer::templates {

const value* call_arguments::get(std::size_t index, std::string_view name) const {
  if (index < positional.size()) return &positional[index];
  for (const auto& [known, item] : named) {
    if (known == name) return &item;
  }
  return nullptr;
}

bool call_arguments::flag(std::size_t index, std::string_view name, bool otherwise) const {
  const value* given = get(index, name);
  return given == nullptr ? otherwise : is_true(*given);
}

evaluated<std::int64_t> call_arguments::integer(std::size_t index, std::string_view name,
                                                std::int64_t otherwise) const {
  const value* given = get(index, name);
  if (given == nullptr) return otherwise;
  if (const auto number = given->as_integer()) return *number;
  return fail(fault::evaluation, "'" + std::string(type_name(*given)) + "' object cannot be interpreted as an integer");
}

evaluated<std::optional<std::int64_t>> call_arguments::bound(std::size_t index, std::string_view name) const {
  const value* given = get(index, name);
  if (given == nullptr || given->is_none()) return std::optional<std::int64_t>();
  if (const auto number = given->as_integer()) return number;
  return fail(fault::evaluation, "slice indices must be integers or None, not " + std::string(type_name(*given)));
}

evaluated<text> call_arguments::string(std::size_t index, std::string_view name, std::string_view otherwise) const {
  const value* given = get(index, name);
  if (given == nullptr) return text(std::string(otherwise), true);
  if (const text* string = given->as_text()) return *string;
  return fail(fault::evaluation,
              "argument '" + std::string(name) + "' must be str, not " + std::string(type_name(*given)));
}

namespace {

// What the reference renderer's sandbox refuses: methods that change a list or dictionary.
constexpr std::array<std::string_view, 8> list_mutators = {"append", "clear", "pop",    "reverse",
                                                           "insert", "sort",  "extend", "remove"};
constexpr std::array<std::string_view, 5> dictionary_mutators = {"clear", "pop", "popitem", "setdefault", "update"};

bool is_mutator(const value& of, std::string_view name) {
  if (of.as_dictionary() != nullptr) return std::ranges::find(dictionary_mutators, name) != dictionary_mutators.end();
  const sequence* items = of.as_sequence();
  return items != nullptr && items->kind == sequence_kind::list &&
         std::ranges::find(list_mutators, name) != list_mutators.end();
}

value loop_field(const loop_state& loop, std::string_view name) {
  const auto index = static_cast<std::int64_t>(loop.index), count = static_cast<std::int64_t>(loop.items->items.size());
  if (name == "index") return value(index + 1);
  if (name == "index0") return value(index);
  if (name == "revindex") return value(count - index);
  if (name == "revindex0") return value(count - index - 1);
  if (name == "first") return value(index == 0);
  if (name == "last") return value(index + 1 == count);
  if (name == "length") return value(count);
  if (name == "depth") return value(static_cast<std::int64_t>(loop.depth));
  if (name == "depth0") return value(static_cast<std::int64_t>(loop.depth) - 1);
  if (name == "previtem")
    return index == 0 ? value::undefined("there is no previous item") : loop.items->items[loop.index - 1];
  if (name == "nextitem")
    return index + 1 == count ? value::undefined("there is no next item") : loop.items->items[loop.index + 1];
  return value::undefined("the loop has no attribute '" + std::string(name) + "'");
}

// A field or method that is no item; nothing where there is none.
std::optional<value> own_attribute(const value& of, std::string_view name, const methods& bound) {
  if (bound.of(of) != nullptr) {
    auto made = std::make_shared<callable>();
    made->what = callable::kind::method;
    made->name = name;
    made->self = of;
    return value(std::shared_ptr<const callable>(std::move(made)));
  }
  if (const loop_state* loop = of.as_loop()) return loop_field(*loop, name);
  if (name_space* names = of.as_namespace()) {
    if (const value* found = names->find(name)) return *found;
  }
  if (const callable* function = of.as_callable(); function != nullptr && name == "name") {
    return value::data(function->name);
  }
  if (is_mutator(of, name)) {
    return value::undefined("access to attribute '" + std::string(name) + "' of '" + std::string(type_name(of)) +
                            "' object is unsafe.");
  }
  return std::nullopt;
}

std::string absent_attribute(std::string_view type, std::string_view name) {
  return "'" + std::string(type) + " object' has no attribute '" + std::string(name) + "'";
}

// What is left where neither an item nor anything else has the name.
value absent(const value& of, const member& which) {
  if (of.as_dictionary() != nullptr) return value::undefined(which.absent);
  return value::undefined(absent_attribute(type_name(of), which.name()));
}

const value* entry_of(const value& of, const member& which) {
  const dictionary* items = of.as_dictionary();
  return items == nullptr ? nullptr : items->find(which.name());
}

}  // namespace

member::member(std::string_view name)
    : key(text(std::string(name), true)),
      bound(methods::named(name)),
      hides_entries(bound.of_dictionary != nullptr ||
                    std::ranges::find(dictionary_mutators, name) != dictionary_mutators.end()),
      absent(std::make_shared<const std::string>(absent_attribute("dict", name))) {}

evaluated<value> get_attribute(const value& of, const member& which) {
  if (of.is_undefined()) return fail(undefined_error(of));
  if (auto own = own_attribute(of, which.name(), which.bound)) return std::move(*own);
  const value* found = entry_of(of, which);
  return found != nullptr ? *found : absent(of, which);
}

evaluated<value> get_item(const value& of, const member& which) {
  if (of.is_undefined()) return fail(undefined_error(of));
  const value* found = entry_of(of, which);
  if (found != nullptr && !found->is_undefined()) return *found;
  if (auto own = own_attribute(of, which.name(), which.bound)) return std::move(*own);
  return found != nullptr ? *found : absent(of, which);
}

evaluated<value> get_item(const value& of, const value& index) {
  if (const text* name = index.as_text()) return get_item(of, member(name->view()));
  return subscript(of, index);
}

const value* held_attribute(const value& of, const member& which) {
  if (name_space* names = of.as_namespace()) return names->find(which.name());
  return which.hides_entries ? nullptr : entry_of(of, which);
}

const value* held_item(const value& of, const member& which) {
  if (name_space* names = of.as_namespace()) return names->find(which.name());
  const value* found = entry_of(of, which);
  return found != nullptr && found->is_undefined() ? nullptr : found;
}

const value* held_item(const value& of, const value& index) {
  if (const dictionary* items = of.as_dictionary()) return items->find(index);
  const sequence* items = of.as_sequence();
  const auto number = index.as_integer();
  if (items == nullptr || items->kind == sequence_kind::generator || !number) return nullptr;
  const auto size = static_cast<std::int64_t>(items->items.size());
  const std::int64_t at = *number < 0 ? *number + size : *number;
  return at >= 0 && at < size ? &items->items[static_cast<std::size_t>(at)] : nullptr;
}

evaluated<value> get_path(const value& of, const value& path) {
  const text* names = path.as_text();
  if (names == nullptr) return get_item(of, path);
  value at = of;
  std::string_view rest = names->view();
  for (;;) {
    const std::size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    std::int64_t number = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool is_number =
        !part.empty() && part[0] != '-' && parsed.ec == std::errc{} && parsed.ptr == part.data() + part.size();
    INFER_TRY(at, get_item(at, is_number ? value(number) : value(text(std::string(part), true))));
    if (dot == std::string_view::npos) return at;
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace infer::templates
