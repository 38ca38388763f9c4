// The values that template expressions compute with. All but namespaces are immutable and shared.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/result.h"
#include "engine/templates/fault.h"
#include "engine/templates/text.h"

namespace infer::templates {

struct sequence;
struct dictionary;
struct name_space;
struct callable;
struct loop_state;

enum class sequence_kind { list, tuple, generator, range, keys_view, values_view, items_view };

struct none_value {};
/// What an unknown name or attribute gives: empty where printed, an error where used.
struct undefined_value {
  std::shared_ptr<const std::string> hint;
};

class value {
 public:
  using storage =
      std::variant<undefined_value, none_value, bool, std::int64_t, double, std::shared_ptr<const text>,
                   std::shared_ptr<const sequence>, std::shared_ptr<const dictionary>, std::shared_ptr<name_space>,
                   std::shared_ptr<const callable>, std::shared_ptr<const loop_state>>;

  value() = default;
  value(none_value) : held_(none_value{}) {}
  value(bool flag) : held_(flag) {}
  value(std::int64_t number) : held_(number) {}
  value(double number) : held_(number) {}
  value(text string) : held_(std::make_shared<const text>(std::move(string))) {}
  value(std::shared_ptr<const sequence> items) : held_(std::move(items)) {}
  value(std::shared_ptr<const dictionary> items) : held_(std::move(items)) {}
  value(std::shared_ptr<name_space> names) : held_(std::move(names)) {}
  value(std::shared_ptr<const callable> function) : held_(std::move(function)) {}
  value(std::shared_ptr<const loop_state> loop) : held_(std::move(loop)) {}
  value(const char*) = delete;

  static value undefined(std::string hint) {
    value made;
    made.held_ = undefined_value{std::make_shared<const std::string>(std::move(hint))};
    return made;
  }
  /// A string that did not come from the template.
  static value data(std::string bytes) { return value(text(std::move(bytes), false)); }
  static value list(std::vector<value> items);
  static value tuple(std::vector<value> items);
  static value generator(std::vector<value> items);
  static value make(sequence_kind kind, std::vector<value> items);

  template <class T>
  const T* get() const {
    return std::get_if<T>(&held_);
  }
  bool is_undefined() const { return get<undefined_value>() != nullptr; }
  bool is_none() const { return get<none_value>() != nullptr; }
  const text* as_text() const { return pointee<text>(); }
  const sequence* as_sequence() const { return pointee<sequence>(); }
  const dictionary* as_dictionary() const { return pointee<dictionary>(); }
  const callable* as_callable() const { return pointee<callable>(); }
  const loop_state* as_loop() const { return pointee<loop_state>(); }
  name_space* as_namespace() const {
    const auto* held = std::get_if<std::shared_ptr<name_space>>(&held_);
    return held == nullptr ? nullptr : held->get();
  }
  /// An integer or a bool.
  std::optional<std::int64_t> as_integer() const;
  /// An integer, a bool or a float.
  std::optional<double> as_number() const;
  /// Levels of lists and dictionaries inside this value.
  std::uint32_t depth() const;
  /// How much there is to print or compare: bytes of strings plus some per value, shared parts counted each time.
  std::uint64_t weight() const;
  /// The bytes of a string; 64 per item of a list or dictionary, whatever the items are.
  std::uint64_t own_bytes() const;

 private:
  template <class T>
  const T* pointee() const {
    const auto* held = std::get_if<std::shared_ptr<const T>>(&held_);
    return held == nullptr ? nullptr : held->get();
  }
  storage held_;
};

struct sequence {
  sequence_kind kind = sequence_kind::list;
  std::vector<value> items;
  std::uint32_t depth = 1;
  std::uint64_t weight = 16;
};

/// Insertion-ordered; keys are strings, numbers, bools, none or tuples of them.
struct dictionary {
  std::vector<std::pair<value, value>> entries;
  std::unordered_map<std::string, std::size_t> index;  // by dictionary_key
  std::uint32_t depth = 1;
  std::uint64_t weight = 16;

  /// Adds or replaces. False: the key cannot be one.
  bool put(value key, value item);
  const value* find(const value& key) const;
  const value* find(std::string_view key) const;
};

/// A text that is equal for equal keys, or nothing for values that cannot be keys.
std::optional<std::string> dictionary_key(const value& key);

struct name_space {
  std::vector<std::pair<std::string, value>> names;
  value* find(std::string_view name);
  void put(std::string_view name, value item);
};

/// The state of one loop iteration: `loop` inside the body.
struct loop_state {
  std::shared_ptr<const sequence> items;
  std::size_t index = 0;
  std::size_t depth = 1;
};

struct frame;
struct statement;

/// Something to call: a macro with its scope, a global function or a method bound to a value.
struct callable {
  enum class kind { macro, global, method };
  kind what = kind::global;
  std::string name;
  value self;                        // of a method
  const statement* macro = nullptr;  // of a macro
  std::shared_ptr<frame> scope;      // where the macro was defined
};

/// Deepest nesting of values; a deeper one is fault::limit where it is made.
inline constexpr std::uint32_t max_value_depth = 300;

/// Converts JSON, objects in their order. Strings get the provenance given. Depth beyond max_value_depth: fault::limit.
result<value> from_json(const boost::json::value& json, bool from_template = false);

/// "str", "int", "dict", … as Python names the type in error messages.
std::string_view type_name(const value& of);

}  // namespace infer::templates
