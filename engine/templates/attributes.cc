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

result<std::int64_t> call_arguments::integer(std::size_t index, std::string_view name, std::int64_t otherwise) const {
  const value* given = get(index, name);
  if (given == nullptr) return otherwise;
  if (const auto number = given->as_integer()) return *number;
  return fail(fault::evaluation, "'" + std::string(type_name(*given)) + "' object cannot be interpreted as an integer");
}

result<text> call_arguments::string(std::size_t index, std::string_view name, std::string_view otherwise) const {
  const value* given = get(index, name);
  if (given == nullptr) return text(std::string(otherwise), true);
  if (const text* string = given->as_text()) return *string;
  return fail(fault::evaluation,
              "argument '" + std::string(name) + "' must be str, not " + std::string(type_name(*given)));
}

namespace {

// What the reference renderer's sandbox refuses: methods that change a list or dictionary.
bool is_mutator(const value& of, std::string_view name) {
  static constexpr std::array<std::string_view, 8> of_list = {"append", "clear", "pop",    "reverse",
                                                              "insert", "sort",  "extend", "remove"};
  static constexpr std::array<std::string_view, 5> of_dictionary = {"clear", "pop", "popitem", "setdefault", "update"};
  if (of.as_dictionary() != nullptr) return std::ranges::find(of_dictionary, name) != of_dictionary.end();
  const sequence* items = of.as_sequence();
  return items != nullptr && items->kind == sequence_kind::list && std::ranges::find(of_list, name) != of_list.end();
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
std::optional<value> own_attribute(const value& of, std::string_view name) {
  if (has_method(of, name)) {
    auto bound = std::make_shared<callable>();
    bound->what = callable::kind::method;
    bound->name = name;
    bound->self = of;
    return value(std::shared_ptr<const callable>(std::move(bound)));
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

}  // namespace

result<value> get_attribute(const value& of, std::string_view name) {
  if (of.is_undefined()) return fail(undefined_error(of));
  if (auto own = own_attribute(of, name)) return std::move(*own);
  return subscript(of, value(text(std::string(name), true)));
}

result<value> get_item(const value& of, const value& index) {
  INFER_TRY(auto found, subscript(of, index));
  const text* name = index.as_text();
  if (!found.is_undefined() || name == nullptr) return found;
  if (auto own = own_attribute(of, name->view())) return std::move(*own);
  return found;
}

result<value> get_path(const value& of, const value& path) {
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
