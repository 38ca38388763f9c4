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
/// One value of any kind. Cheap to copy and move: what is not a number is shared.
class value {
 public:
  enum class kind : std::uint8_t {
    undefined,
    none,
    boolean,
    integer,
    real,
    text,
    sequence,
    dictionary,
    name_space,
    callable,
    loop
  };

  value() = default;
  value(none_value) : kind_(kind::none) {}
  value(bool flag) : kind_(kind::boolean), number_{.flag = flag} {}
  value(std::int64_t number) : kind_(kind::integer), number_{.integer = number} {}
  value(double number) : kind_(kind::real), number_{.real = number} {}
  // The text object itself is not const, so that sole_text() may hand it out.
  value(text string) : kind_(kind::text), held_(std::make_shared<text>(std::move(string))) {}
  value(std::shared_ptr<const sequence> items) : kind_(kind::sequence), held_(std::move(items)) {}
  value(std::shared_ptr<const dictionary> items) : kind_(kind::dictionary), held_(std::move(items)) {}
  value(std::shared_ptr<name_space> names) : kind_(kind::name_space), held_(std::move(names)) {}
  value(std::shared_ptr<const callable> function) : kind_(kind::callable), held_(std::move(function)) {}
  value(std::shared_ptr<const loop_state> loop) : kind_(kind::loop), held_(std::move(loop)) {}
  value(const char*) = delete;

  /// What an unknown name or attribute gives: empty where printed, an error with this text where used.
  static value undefined(std::string hint) { return undefined(std::make_shared<const std::string>(std::move(hint))); }
  static value undefined(std::shared_ptr<const std::string> hint) {
    value made;
    made.held_ = std::move(hint);
    return made;
  }
  /// A string that did not come from the template.
  static value data(std::string bytes) { return value(text(std::move(bytes), false)); }
  static value list(std::vector<value> items);
  static value tuple(std::vector<value> items);
  static value generator(std::vector<value> items);
  static value make(sequence_kind kind, std::vector<value> items);

  bool is_undefined() const { return kind_ == kind::undefined; }
  bool is_none() const { return kind_ == kind::none; }
  /// Of an undefined value; null where there is none.
  const std::string* hint() const { return pointee<std::string>(kind::undefined); }
  const bool* as_bool() const { return kind_ == kind::boolean ? &number_.flag : nullptr; }
  /// An integer that is no bool.
  const std::int64_t* as_int() const { return kind_ == kind::integer ? &number_.integer : nullptr; }
  const double* as_real() const { return kind_ == kind::real ? &number_.real : nullptr; }
  const text* as_text() const { return pointee<text>(kind::text); }
  const sequence* as_sequence() const { return pointee<sequence>(kind::sequence); }
  const dictionary* as_dictionary() const { return pointee<dictionary>(kind::dictionary); }
  const callable* as_callable() const { return pointee<callable>(kind::callable); }
  const loop_state* as_loop() const { return pointee<loop_state>(kind::loop); }
  name_space* as_namespace() const { return const_cast<name_space*>(pointee<name_space>(kind::name_space)); }
  /// The list itself, shared; empty where there is none.
  std::shared_ptr<const sequence> shared_sequence() const {
    return kind_ == kind::sequence ? std::static_pointer_cast<const sequence>(held_) : nullptr;
  }
  /// The string, to be changed in place; null where another value shares it.
  text* sole_text() { return kind_ == kind::text && held_.use_count() == 1 ? const_cast<text*>(as_text()) : nullptr; }
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
  const T* pointee(kind of) const {
    return kind_ == of ? static_cast<const T*>(held_.get()) : nullptr;
  }
  kind kind_ = kind::undefined;
  union {
    bool flag;
    std::int64_t integer;
    double real;
  } number_{.integer = 0};
  std::shared_ptr<const void> held_;
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
  std::uint32_t depth = 1;
  std::uint64_t weight = 16;

  /// Adds or replaces. False: the key cannot be one.
  bool put(value key, value item);
  const value* find(const value& key) const;
  const value* find(std::string_view key) const;

 private:
  std::size_t position(std::string_view key) const;  // entries.size(): none

  // Where entries are; string keys only from a size on where a search is slower.
  std::unordered_map<std::string_view, std::size_t> strings_;  // bytes of the keys, which entries share
  std::unordered_map<std::string, std::size_t> others_;        // by dictionary_key
};

/// A text that is equal for equal keys, or nothing for values that cannot be keys.
std::optional<std::string> dictionary_key(const value& key);

struct name_space {
  std::vector<std::pair<std::string, value>> names;
  value* find(std::string_view name);
  void put(std::string_view name, value item);
};

/// How far a loop is: `loop` inside the body. One for all rounds; it goes on where a template keeps it.
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
