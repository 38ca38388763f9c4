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
  if (const auto* number = as_int()) return *number;
  if (const auto* flag = as_bool()) return *flag ? 1 : 0;
  return std::nullopt;
}

std::optional<double> value::as_number() const {
  if (const auto* number = as_real()) return *number;
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
  if (const auto* number = key.as_real()) {
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

namespace {
constexpr std::size_t few_entries = 8;  // compared one by one
}  // namespace

std::size_t dictionary::position(std::string_view key) const {
  if (entries.size() > few_entries) {
    const auto at = strings_.find(key);
    return at == strings_.end() ? entries.size() : at->second;
  }
  for (std::size_t at = 0; at < entries.size(); ++at) {
    const text* known = entries[at].first.as_text();
    if (known != nullptr && known->view() == key) return at;
  }
  return entries.size();
}

bool dictionary::put(value key, value item) {
  std::size_t at = entries.size();
  if (const text* string = key.as_text()) {
    at = position(string->view());
  } else {
    auto name = dictionary_key(key);
    if (!name) return false;
    at = others_.emplace(std::move(*name), at).first->second;
  }
  depth = std::max({depth, item.depth() + 1, key.depth() + 1});
  weight += key.weight() + item.weight();
  if (at < entries.size()) {
    entries[at].second = std::move(item);
    return true;
  }
  entries.emplace_back(std::move(key), std::move(item));
  if (entries.size() <= few_entries) return true;
  // The first to be too many brings all before it along.
  for (at = entries.size() == few_entries + 1 ? 0 : at; at < entries.size(); ++at) {
    if (const text* string = entries[at].first.as_text()) strings_.emplace(string->view(), at);
  }
  return true;
}

const value* dictionary::find(const value& key) const {
  if (const text* string = key.as_text()) return find(string->view());
  const auto name = dictionary_key(key);
  if (!name) return nullptr;
  const auto at = others_.find(*name);
  return at == others_.end() ? nullptr : &entries[at->second].second;
}

const value* dictionary::find(std::string_view key) const {
  const std::size_t at = position(key);
  return at == entries.size() ? nullptr : &entries[at].second;
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

// Makes values of JSON. Equal keys become one text: messages have few different ones.
class converter {
 public:
  explicit converter(bool from_template) : from_template_(from_template) {}

  result<value> convert(const boost::json::value& json, std::uint32_t depth) {
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
        return value(text(std::string(json.get_string()), from_template_));
      case boost::json::kind::array:
        return array(json.get_array(), depth);
      case boost::json::kind::object:
        return object(json.get_object(), depth);
    }
    return value(none_value{});
  }

 private:
  result<value> array(const boost::json::array& json, std::uint32_t depth) {
    std::vector<value> items;
    items.reserve(json.size());
    for (const auto& item : json) {
      INFER_TRY(auto made, convert(item, depth + 1));
      items.push_back(std::move(made));
    }
    return value::list(std::move(items));
  }

  result<value> object(const boost::json::object& json, std::uint32_t depth) {
    auto made = std::make_shared<dictionary>();
    made->entries.reserve(json.size());
    for (const auto& [key, item] : json) {
      INFER_TRY(auto inner, convert(item, depth + 1));
      made->put(key_of(key), std::move(inner));
    }
    return value(std::shared_ptr<const dictionary>(std::move(made)));
  }

  const value& key_of(std::string_view key) {
    const auto known = keys_.find(key);
    if (known != keys_.end()) return known->second;
    return keys_.emplace(key, text(std::string(key), from_template_)).first->second;
  }

  bool from_template_;
  std::unordered_map<std::string_view, value> keys_;  // the bytes are those of the JSON
};

}  // namespace

result<value> from_json(const boost::json::value& json, bool from_template) {
  return converter(from_template).convert(json, 0);
}

std::string_view type_name(const value& of) {
  if (of.is_undefined()) return "Undefined";
  if (of.is_none()) return "NoneType";
  if (of.as_bool() != nullptr) return "bool";
  if (of.as_int() != nullptr) return "int";
  if (of.as_real() != nullptr) return "float";
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
