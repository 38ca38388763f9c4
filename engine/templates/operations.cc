// Truth, equality, order and arithmetic.
#include "engine/templates/operations.h"

#include <algorithm>
#include <cmath>

#include "engine/templates/printing.h"
#include "engine/templates/text_functions.h"
#include "engine/templates/text_search.h"

namespace infer::templates {

error undefined_error(const value& of) {
  const std::string* hint = of.hint();
  return {make_error_code(fault::evaluation), hint != nullptr ? *hint : "a value is undefined"};
}

bool is_true(const value& of) {
  if (const bool* flag = of.as_bool()) return *flag;
  if (of.is_undefined() || of.is_none()) return false;
  if (const auto number = of.as_number()) return *number != 0;
  if (const text* string = of.as_text()) return !string->empty();
  if (const sequence* items = of.as_sequence()) return items->kind == sequence_kind::generator || !items->items.empty();
  if (const dictionary* items = of.as_dictionary()) return !items->entries.empty();
  return true;
}

namespace {

bool equal_sequences(const sequence& a, const sequence& b) {
  const bool comparable = a.kind != sequence_kind::generator && a.kind != sequence_kind::values_view;
  if (&a == &b) return true;
  if (a.kind != b.kind || !comparable || a.items.size() != b.items.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(a.items[i], b.items[i])) return false;
  }
  return true;
}

bool equal_dictionaries(const dictionary& a, const dictionary& b) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const auto& [key, item] : a.entries) {
    const value* other = b.find(key);
    if (other == nullptr || !equal(item, *other)) return false;
  }
  return true;
}

}  // namespace

bool equal(const value& a, const value& b) {
  if (a.is_undefined() || b.is_undefined()) return a.is_undefined() && b.is_undefined();
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (const auto x = a.as_integer(), y = b.as_integer(); x && y) return *x == *y;
  if (const auto x = a.as_number(), y = b.as_number(); x && y) return *x == *y;
  if (a.as_text() != nullptr && b.as_text() != nullptr) return a.as_text()->view() == b.as_text()->view();
  if (a.as_sequence() != nullptr && b.as_sequence() != nullptr)
    return equal_sequences(*a.as_sequence(), *b.as_sequence());
  if (a.as_dictionary() != nullptr && b.as_dictionary() != nullptr) {
    return equal_dictionaries(*a.as_dictionary(), *b.as_dictionary());
  }
  if (a.as_namespace() != nullptr) return a.as_namespace() == b.as_namespace();
  if (a.as_callable() != nullptr) return a.as_callable() == b.as_callable();
  return false;
}

evaluated<std::partial_ordering> order(const value& a, const value& b) {
  if (a.is_undefined()) return fail(undefined_error(a));
  if (b.is_undefined()) return fail(undefined_error(b));
  if (const auto x = a.as_integer(), y = b.as_integer(); x && y) return std::partial_ordering(*x <=> *y);
  if (const auto x = a.as_number(), y = b.as_number(); x && y) return *x <=> *y;
  if (a.as_text() != nullptr && b.as_text() != nullptr) {
    const int sign = a.as_text()->view().compare(b.as_text()->view());  // UTF-8 keeps the order of code points
    return std::partial_ordering(sign <=> 0);
  }
  const sequence *x = a.as_sequence(), *y = b.as_sequence();
  if (x != nullptr && y != nullptr && x->kind == y->kind &&
      (x->kind == sequence_kind::list || x->kind == sequence_kind::tuple)) {
    for (std::size_t i = 0; i < x->items.size() && i < y->items.size(); ++i) {
      if (!equal(x->items[i], y->items[i])) return order(x->items[i], y->items[i]);
    }
    return std::partial_ordering(x->items.size() <=> y->items.size());
  }
  return fail(fault::evaluation, "'<' not supported between instances of '" + std::string(type_name(a)) + "' and '" +
                                     std::string(type_name(b)) + "'");
}

namespace {

evaluated<bool> contains(const value& item, const value& in) {
  if (const text* string = in.as_text()) {
    const text* part = item.as_text();
    if (part == nullptr) {
      return fail(fault::evaluation,
                  "'in <string>' requires string as left operand, not " + std::string(type_name(item)));
    }
    return find_first(string->view(), part->view()) != std::string_view::npos;
  }
  if (const dictionary* items = in.as_dictionary()) {
    if (item.as_text() == nullptr && !dictionary_key(item))
      return fail(fault::evaluation, "unhashable type: '" + std::string(type_name(item)) + "'");
    return items->find(item) != nullptr;
  }
  if (in.is_undefined()) return false;
  const sequence* items = in.as_sequence();
  if (items == nullptr) {
    return fail(fault::evaluation, "argument of type '" + std::string(type_name(in)) + "' is not iterable");
  }
  for (const value& one : items->items) {
    if (equal(one, item)) return true;
  }
  return false;
}

}  // namespace

std::uint64_t comparison_cost(std::string_view op, const value& a, const value& b) {
  if (op != "in" && op != "not in") return std::min(a.weight(), b.weight());
  if (b.as_text() != nullptr) return b.own_bytes();
  const sequence* items = b.as_sequence();
  return items == nullptr ? a.own_bytes() : std::min<std::uint64_t>(b.weight(), items->items.size() * a.weight());
}

evaluated<bool> compare(std::string_view op, const value& a, const value& b) {
  if (op == "==") return equal(a, b);
  if (op == "!=") return !equal(a, b);
  if (op == "in") return contains(a, b);
  if (op == "not in") {
    INFER_TRY(const bool found, contains(a, b));
    return !found;
  }
  INFER_TRY(const auto sign, order(a, b));
  if (op == "<") return sign < 0;
  if (op == "<=") return sign <= 0;
  if (op == ">") return sign > 0;
  return sign >= 0;
}

namespace {

auto unsupported(std::string_view op, const value& a, const value& b) {
  if (op == "+" && a.as_text() != nullptr) {
    return fail(fault::evaluation, "can only concatenate str (not \"" + std::string(type_name(b)) + "\") to str");
  }
  return fail(fault::evaluation, "unsupported operand type(s) for " + std::string(op) + ": '" +
                                     std::string(type_name(a)) + "' and '" + std::string(type_name(b)) + "'");
}

auto too_large() {
  return fail(fault::evaluation, "an integer beyond 64 bits");
}

evaluated<value> integer_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return fail(fault::evaluation, "0.0 cannot be raised to a negative power");
    return value(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  std::int64_t made = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(made, base, &made)) return too_large();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return too_large();
  }
  return value(made);
}

evaluated<value> integer_arithmetic(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t made = 0;
  if (op == "+") {
    if (__builtin_add_overflow(a, b, &made)) return too_large();
  } else if (op == "-") {
    if (__builtin_sub_overflow(a, b, &made)) return too_large();
  } else if (op == "*") {
    if (__builtin_mul_overflow(a, b, &made)) return too_large();
  } else if (op == "**") {
    return integer_power(a, b);
  } else if (b == 0) {
    return fail(fault::evaluation, "division by zero");
  } else if (op == "/") {
    return value(static_cast<double>(a) / static_cast<double>(b));
  } else if (b == -1) {  // the one quotient that can overflow
    if (op == "%") return value(std::int64_t{0});
    if (__builtin_sub_overflow(std::int64_t{0}, a, &made)) return too_large();
  } else {
    const std::int64_t rest = a % b;
    const bool adjust = rest != 0 && (rest < 0) != (b < 0);
    made = op == "%" ? rest + (adjust ? b : 0) : a / b - (adjust ? 1 : 0);
  }
  return value(made);
}

evaluated<value> real_arithmetic(std::string_view op, double a, double b) {
  if (op == "+") return value(a + b);
  if (op == "-") return value(a - b);
  if (op == "*") return value(a * b);
  if (op == "**") return value(std::pow(a, b));
  if (b == 0) return fail(fault::evaluation, "float division by zero");
  if (op == "/") return value(a / b);
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  if (op == "%") return value(rest);
  return value(std::nearbyint((a - rest) / b));
}

evaluated<value> repeated(const value& of, std::int64_t count, budget& spent) {
  const auto times = static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(of.weight(), times, &total)) total = UINT64_MAX;
  INFER_TRYV(spent.spend_bytes(total));
  if (of.as_sequence() != nullptr) {
    INFER_TRYV(spent.spend(of.as_sequence()->items.size() * times));
  }
  if (const text* string = of.as_text()) {
    text made;
    for (std::uint64_t i = 0; i < times && !string->empty(); ++i) made.append(*string);
    return value(std::move(made));
  }
  std::vector<value> items;
  for (std::uint64_t i = 0; i < times && !of.as_sequence()->items.empty(); ++i) {
    items.insert(items.end(), of.as_sequence()->items.begin(), of.as_sequence()->items.end());
  }
  return value::make(of.as_sequence()->kind, std::move(items));
}

bool is_list_or_tuple(const value& of) {
  const sequence* items = of.as_sequence();
  return items != nullptr && (items->kind == sequence_kind::list || items->kind == sequence_kind::tuple);
}

evaluated<value> sum_of_texts(const text& a, const text& b, budget& spent) {
  text made = a;
  if (!a.is_markup() && !b.is_markup()) {
    made.append(b);
    return value(std::move(made));
  }
  INFER_TRY(made, escaped(spent, a));
  INFER_TRY(const text other, escaped(spent, b));
  made.append(other);
  return value(std::move(made));
}

evaluated<value> sum_of_sequences(const sequence& a, const sequence& b, budget& spent) {
  INFER_TRYV(spent.spend_bytes(64 * (a.items.size() + b.items.size())));
  std::vector<value> items(a.items);
  items.insert(items.end(), b.items.begin(), b.items.end());
  return value::make(a.kind, std::move(items));
}

}  // namespace

evaluated<value> arithmetic(std::string_view op, const value& a, const value& b, budget& spent) {
  if (a.is_undefined()) return fail(undefined_error(a));
  if (op == "%" && a.as_text() != nullptr) return format_percent(*a.as_text(), b, spent);
  if (b.is_undefined() && a.as_text() == nullptr) return fail(undefined_error(b));
  if (const auto x = a.as_integer(), y = b.as_integer(); x && y) return integer_arithmetic(op, *x, *y);
  if (const auto x = a.as_number(), y = b.as_number(); x && y) return real_arithmetic(op, *x, *y);
  if (op == "+" && a.as_text() != nullptr && b.as_text() != nullptr) {
    INFER_TRYV(spent.spend_bytes(a.as_text()->size() + b.as_text()->size()));
    return sum_of_texts(*a.as_text(), *b.as_text(), spent);
  }
  if (op == "+" && is_list_or_tuple(a) && is_list_or_tuple(b) && a.as_sequence()->kind == b.as_sequence()->kind) {
    return sum_of_sequences(*a.as_sequence(), *b.as_sequence(), spent);
  }
  if (op == "*" && (a.as_text() != nullptr || is_list_or_tuple(a)) && b.as_integer()) {
    return repeated(a, *b.as_integer(), spent);
  }
  if (op == "*" && (b.as_text() != nullptr || is_list_or_tuple(b)) && a.as_integer()) {
    return repeated(b, *a.as_integer(), spent);
  }
  if (b.is_undefined()) return fail(undefined_error(b));
  return unsupported(op, a, b);
}

evaluated<value> negated(const value& of) {
  if (of.is_undefined()) return fail(undefined_error(of));
  if (const auto number = of.as_integer()) return integer_arithmetic("-", 0, *number);
  if (const auto* number = of.as_real()) return value(-*number);
  return fail(fault::evaluation, "bad operand type for unary -: '" + std::string(type_name(of)) + "'");
}

}  // namespace infer::templates
