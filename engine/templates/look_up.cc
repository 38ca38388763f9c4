// Items, lengths, subscripts and slices.
#include <algorithm>

#include "engine/templates/operations.h"
#include "engine/templates/unicode.h"

namespace infer::templates {
namespace {

std::vector<value> characters_of(const text& string) {
  std::vector<value> items;
  const text_cutter pieces(string);
  for (std::size_t at = 0; at < string.size();) {
    const std::size_t bytes = first_character(string.view().substr(at)).bytes;
    items.emplace_back(pieces.cut(at, at + bytes));
    at += bytes;
  }
  return items;
}

std::vector<value> keys_of(const dictionary& of) {
  std::vector<value> items;
  items.reserve(of.entries.size());
  for (const auto& [key, item] : of.entries) items.push_back(key);
  return items;
}

}  // namespace

evaluated<std::vector<value>> items_of(const value& of, budget& spent) {
  if (const sequence* items = of.as_sequence()) return items->items;
  if (const dictionary* items = of.as_dictionary()) return keys_of(*items);
  if (const text* string = of.as_text()) {
    INFER_TRYV(spent.spend(8 * string->size()));  // a string per character
    return characters_of(*string);
  }
  if (of.is_undefined()) return std::vector<value>{};
  return fail(fault::evaluation, "'" + std::string(type_name(of)) + "' object is not iterable");
}

evaluated<std::shared_ptr<const sequence>> sequence_of(const value& of, budget& spent) {
  if (auto held = of.shared_sequence()) return held;
  INFER_TRY(auto items, items_of(of, spent));
  auto made = std::make_shared<sequence>();
  made->items = std::move(items);
  return std::shared_ptr<const sequence>(std::move(made));
}

evaluated<std::int64_t> length_of(const value& of) {
  if (const text* string = of.as_text()) return static_cast<std::int64_t>(count_characters(string->view()));
  if (const dictionary* items = of.as_dictionary()) return static_cast<std::int64_t>(items->entries.size());
  if (of.is_undefined()) return std::int64_t{0};
  const sequence* items = of.as_sequence();
  if (items == nullptr || items->kind == sequence_kind::generator) {
    return fail(fault::evaluation, "object of type '" + std::string(type_name(of)) + "' has no len()");
  }
  return static_cast<std::int64_t>(items->items.size());
}

evaluated<value> subscript(const value& of, const value& index) {
  if (of.is_undefined()) return fail(undefined_error(of));
  if (const dictionary* items = of.as_dictionary()) {
    if (const value* found = items->find(index)) return *found;
  } else if (const auto number = index.as_integer()) {
    if (const sequence* list = of.as_sequence(); list != nullptr && list->kind != sequence_kind::generator) {
      const auto size = static_cast<std::int64_t>(list->items.size());
      const std::int64_t at = *number < 0 ? *number + size : *number;
      if (at >= 0 && at < size) return list->items[static_cast<std::size_t>(at)];
    }
    if (const text* string = of.as_text()) {
      const auto size = static_cast<std::int64_t>(count_characters(string->view()));
      const std::int64_t at = *number < 0 ? *number + size : *number;
      if (at >= 0 && at < size) {
        const std::size_t begin = offset_of_character(string->view(), static_cast<std::size_t>(at));
        return value(string->slice(begin, begin + first_character(string->view().substr(begin)).bytes));
      }
    }
  }
  const std::string owner = "'" + std::string(type_name(of)) + " object' has no ";
  if (const text* name = index.as_text())
    return value::undefined(owner + "attribute '" + std::string(name->view()) + "'");
  return value::undefined("the " + std::string(type_name(of)) + " has no such element");
}

namespace {

// The indices Python's slice visits in a sequence of `size`.
evaluated<std::vector<std::size_t>> slice_indices(const slice_bounds& bounds, std::int64_t size) {
  const std::int64_t step = bounds.step.value_or(1);
  if (step == 0) return fail(fault::evaluation, "slice step cannot be zero");
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto clamped = [&](std::optional<std::int64_t> bound, std::int64_t absent) {
    if (!bound) return absent;
    const std::int64_t at = *bound < 0 ? *bound + size : *bound;
    return std::clamp(at, low, high);
  };
  const std::int64_t start = clamped(bounds.start, step > 0 ? low : high);
  const std::int64_t stop = clamped(bounds.stop, step > 0 ? high : low);
  std::vector<std::size_t> indices;
  for (std::int64_t at = start; step > 0 ? at < stop : at > stop;) {
    indices.push_back(static_cast<std::size_t>(at));
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return indices;
}

}  // namespace

evaluated<value> slice(const value& of, const slice_bounds& bounds) {
  if (of.is_undefined()) return fail(undefined_error(of));
  if (const text* string = of.as_text()) {
    std::vector<std::size_t> offsets;
    for (std::size_t at = 0; at < string->size(); at += first_character(string->view().substr(at)).bytes) {
      offsets.push_back(at);
    }
    const auto size = static_cast<std::int64_t>(offsets.size());
    offsets.push_back(string->size());
    INFER_TRY(const auto indices, slice_indices(bounds, size));
    if (indices.empty()) return value(text());
    if (bounds.step.value_or(1) == 1)
      return value(string->slice(offsets[indices.front()], offsets[indices.back() + 1]));
    const text_cutter pieces(*string);
    text made;
    for (const std::size_t at : indices) made.append(pieces.cut(offsets[at], offsets[at + 1]));
    return value(std::move(made));
  }
  const sequence* list = of.as_sequence();
  if (list == nullptr || list->kind == sequence_kind::generator) {
    return fail(fault::evaluation, "'" + std::string(type_name(of)) + "' object is not subscriptable");
  }
  INFER_TRY(const auto indices, slice_indices(bounds, static_cast<std::int64_t>(list->items.size())));
  std::vector<value> items;
  for (const std::size_t at : indices) items.push_back(list->items[at]);
  return value::make(list->kind == sequence_kind::tuple ? sequence_kind::tuple : sequence_kind::list, std::move(items));
}

}  // namespace infer::templates
