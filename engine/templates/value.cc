// Construction of values and the ordered dictionary.
#include "engine/templates/value.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>

namespace infer::templates {
value value::make(sequence_kind kind, std::vector<value> items) {
  auto made = std::make_shared<sequence>();
  made->kind = kind;
  for (const value& item : items) {
    made->depth = std::max(made->depth, item.depth() + 1);
    made->weight += item.weight();
  }
  made->items = std::move(items);
  return value(std::shared_ptr<const sequence>(std::move(made)));
}

value value::list(std::vector<value> items) {
  return make(sequence_kind::list, std::move(items));
}
value value::tuple(std::vector<value> items) {
  return make(sequence_kind::tuple, std::move(items));
}
value value::generator(std::vector<value> items) {
  return make(sequence_kind::generator, std::move(items));
}

std::optional<std::int64_t> value::as_integer() const {
  if (const auto* number = get<std::int64_t>()) return *number;
  if (const auto* flag = get<bool>()) return *flag ? 1 : 0;
  return std::nullopt;
}

std::optional<double> value::as_number() const {
  if (const auto* number = get<double>()) return *number;
  if (const auto number = as_integer()) return static_cast<double>(*number);
  return std::nullopt;
}

std::uint32_t value::depth() const {
  if (const auto* items = as_sequence()) return items->depth;
  if (const auto* items = as_dictionary()) return items->depth;
  return 0;
}

std::uint64_t value::weight() const {
  if (const text* string = as_text()) return string->size() + 16;
  if (const auto* items = as_sequence()) return items->weight;
  if (const auto* items = as_dictionary()) return items->weight;
  return 16;
}

std::uint64_t value::own_bytes() const {
  if (const text* string = as_text()) return string->size();
  if (const auto* items = as_sequence()) return 64 * items->items.size();
  if (const auto* items = as_dictionary()) return 64 * items->entries.size();
  return 0;
}

std::optional<std::string> dictionary_key(const value& key) {
  if (const text* string = key.as_text()) return "s" + std::string(string->view());
  if (const auto number = key.as_integer()) return "i" + std::to_string(*number);
  if (const auto* number = key.get<double>()) {
    if (std::nearbyint(*number) == *number && std::abs(*number) < 9e15) {
      return "i" + std::to_string(static_cast<std::int64_t>(*number));
    }
    return "f" + std::to_string(*number);
  }
  if (key.is_none()) return "n";
  if (key.is_undefined()) return "u";
  const sequence* items = key.as_sequence();
  if (items == nullptr || items->kind != sequence_kind::tuple) return std::nullopt;
  std::string made = "t";
  for (const value& item : items->items) {
    const auto part = dictionary_key(item);
    if (!part) return std::nullopt;
    made += std::to_string(part->size()) + ":" + *part;
  }
  return made;
}

bool dictionary::put(value key, value item) {
  auto name = dictionary_key(key);
  if (!name) return false;
  depth = std::max({depth, item.depth() + 1, key.depth() + 1});
  weight += key.weight() + item.weight();
  const auto [at, added] = index.emplace(std::move(*name), entries.size());
  if (added) {
    entries.emplace_back(std::move(key), std::move(item));
  } else {
    entries[at->second].second = std::move(item);
  }
  return true;
}

const value* dictionary::find(const value& key) const {
  const auto name = dictionary_key(key);
  if (!name) return nullptr;
  const auto at = index.find(*name);
  return at == index.end() ? nullptr : &entries[at->second].second;
}

const value* dictionary::find(std::string_view key) const {
  const auto at = index.find("s" + std::string(key));
  return at == index.end() ? nullptr : &entries[at->second].second;
}

value* name_space::find(std::string_view name) {
  for (auto& [known, item] : names) {
    if (known == name) return &item;
  }
  return nullptr;
}

void name_space::put(std::string_view name, value item) {
  if (value* known = find(name)) {
    *known = std::move(item);
  } else {
    names.emplace_back(name, std::move(item));
  }
}

namespace {

result<value> convert(const boost::json::value& json, bool from_template, std::uint32_t depth) {
  if (depth > max_value_depth) return fail(fault::limit, "the variables are nested too deeply");
  switch (json.kind()) {
    case boost::json::kind::null:
      return value(none_value{});
    case boost::json::kind::bool_:
      return value(json.get_bool());
    case boost::json::kind::int64:
      return value(static_cast<std::int64_t>(json.get_int64()));
    case boost::json::kind::uint64: {
      const std::uint64_t number = json.get_uint64();
      if (number <= INT64_MAX) return value(static_cast<std::int64_t>(number));
      return value(static_cast<double>(number));
    }
    case boost::json::kind::double_:
      return value(json.get_double());
    case boost::json::kind::string:
      return value(text(std::string(json.get_string()), from_template));
    case boost::json::kind::array: {
      std::vector<value> items;
      items.reserve(json.get_array().size());
      for (const auto& item : json.get_array()) {
        INFER_TRY(auto made, convert(item, from_template, depth + 1));
        items.push_back(std::move(made));
      }
      return value::list(std::move(items));
    }
    case boost::json::kind::object: {
      auto made = std::make_shared<dictionary>();
      for (const auto& [key, item] : json.get_object()) {
        INFER_TRY(auto inner, convert(item, from_template, depth + 1));
        made->put(value(text(std::string(key), from_template)), std::move(inner));
      }
      return value(std::shared_ptr<const dictionary>(std::move(made)));
    }
  }
  return value(none_value{});
}

}  // namespace

result<value> from_json(const boost::json::value& json, bool from_template) {
  return convert(json, from_template, 0);
}

std::string_view type_name(const value& of) {
  if (of.is_undefined()) return "Undefined";
  if (of.is_none()) return "NoneType";
  if (of.get<bool>() != nullptr) return "bool";
  if (of.get<std::int64_t>() != nullptr) return "int";
  if (of.get<double>() != nullptr) return "float";
  if (of.as_text() != nullptr) return "str";
  if (of.as_dictionary() != nullptr) return "dict";
  if (of.as_namespace() != nullptr) return "Namespace";
  if (of.as_loop() != nullptr) return "LoopContext";
  if (of.as_callable() != nullptr) return "function";
  switch (of.as_sequence()->kind) {
    case sequence_kind::list:
      return "list";
    case sequence_kind::tuple:
      return "tuple";
    case sequence_kind::generator:
      return "generator";
    case sequence_kind::range:
      return "range";
    case sequence_kind::keys_view:
      return "dict_keys";
    case sequence_kind::values_view:
      return "dict_values";
    case sequence_kind::items_view:
      return "dict_items";
  }
  return "object";
}

}  // namespace infer::templates
