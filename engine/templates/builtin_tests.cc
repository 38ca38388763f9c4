// What may follow `is`.
#include <array>

#include "engine/templates/builtins.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"
#include "engine/templates/unicode.h"

namespace infer::templates {

struct test_entry {
  std::string_view name;
  evaluated<bool> (*test)(services&, const value&, const call_arguments&);
  std::size_t arguments;
};

namespace {

using args_t = const call_arguments&;

template <bool (*Test)(const value&)>
evaluated<bool> plain(services&, const value& of, args_t) {
  return Test(of);
}

bool is_kind(const value& of, sequence_kind kind) {
  return of.as_sequence() != nullptr && of.as_sequence()->kind == kind;
}

bool defined(const value& of) {
  return !of.is_undefined();
}
bool undefined(const value& of) {
  return of.is_undefined();
}
bool none(const value& of) {
  return of.is_none();
}
bool string(const value& of) {
  return of.as_text() != nullptr;
}
bool number(const value& of) {
  return of.as_number().has_value();
}
bool integer(const value& of) {
  return of.as_int() != nullptr;
}
bool real(const value& of) {
  return of.as_real() != nullptr;
}
bool boolean(const value& of) {
  return of.as_bool() != nullptr;
}
bool mapping(const value& of) {
  return of.as_dictionary() != nullptr;
}
bool true_itself(const value& of) {
  return of.as_bool() != nullptr && *of.as_bool();
}
bool false_itself(const value& of) {
  return of.as_bool() != nullptr && !*of.as_bool();
}
bool callable_value(const value& of) {
  return of.as_callable() != nullptr;
}
bool iterable(const value& of) {
  return of.is_undefined() || string(of) || mapping(of) || of.as_sequence() != nullptr;
}
bool upper(const value& of) {
  return is_upper(to_text(of).view());
}
bool lower(const value& of) {
  return is_lower(to_text(of).view());
}
bool markup(const value& of) {
  return of.as_text() != nullptr && of.as_text()->is_markup();
}

bool has_items(const value& of) {
  return of.is_undefined() || string(of) || mapping(of) || is_kind(of, sequence_kind::list) ||
         is_kind(of, sequence_kind::tuple) || is_kind(of, sequence_kind::range);
}

template <std::int64_t Rest>
evaluated<bool> parity(services& with, const value& of, args_t) {
  INFER_TRY(const value rest, arithmetic("%", of, value(std::int64_t{2}), with.spent));
  return equal(rest, value(Rest));
}

evaluated<bool> divisible(services& with, const value& of, args_t args) {
  INFER_TRY(const value rest, arithmetic("%", of, args.positional[0], with.spent));
  return equal(rest, value(std::int64_t{0}));
}

template <int Op>
evaluated<bool> comparison(services&, const value& of, args_t args) {
  static constexpr std::array<std::string_view, 7> ops = {"==", "!=", "<", "<=", ">", ">=", "in"};
  return compare(ops[Op], of, args.positional[0]);
}

evaluated<bool> same(services&, const value& of, args_t args) {
  const value& other = args.positional[0];
  return type_name(of) == type_name(other) && equal(of, other);
}

evaluated<bool> names_filter(services&, const value& of, args_t) {
  return string(of) && find_filter(of.as_text()->view()) != nullptr;
}
evaluated<bool> names_test(services&, const value& of, args_t) {
  return string(of) && find_test(of.as_text()->view()) != nullptr;
}

constexpr std::array<test_entry, 39> table = {{
    {"defined", plain<defined>, 0},
    {"undefined", plain<undefined>, 0},
    {"none", plain<none>, 0},
    {"string", plain<string>, 0},
    {"number", plain<number>, 0},
    {"integer", plain<integer>, 0},
    {"float", plain<real>, 0},
    {"boolean", plain<boolean>, 0},
    {"mapping", plain<mapping>, 0},
    {"true", plain<true_itself>, 0},
    {"false", plain<false_itself>, 0},
    {"callable", plain<callable_value>, 0},
    {"iterable", plain<iterable>, 0},
    {"sequence", plain<has_items>, 0},
    {"upper", plain<upper>, 0},
    {"lower", plain<lower>, 0},
    {"escaped", plain<markup>, 0},
    {"odd", parity<1>, 0},
    {"even", parity<0>, 0},
    {"divisibleby", divisible, 1},
    {"filter", names_filter, 0},
    {"test", names_test, 0},
    {"sameas", same, 1},
    {"==", comparison<0>, 1},
    {"eq", comparison<0>, 1},
    {"equalto", comparison<0>, 1},
    {"!=", comparison<1>, 1},
    {"ne", comparison<1>, 1},
    {"<", comparison<2>, 1},
    {"lt", comparison<2>, 1},
    {"lessthan", comparison<2>, 1},
    {"<=", comparison<3>, 1},
    {"le", comparison<3>, 1},
    {">", comparison<4>, 1},
    {"gt", comparison<4>, 1},
    {"greaterthan", comparison<4>, 1},
    {">=", comparison<5>, 1},
    {"ge", comparison<5>, 1},
    {"in", comparison<6>, 1},
}};

}  // namespace

const test_entry* find_test(std::string_view name) {
  for (const test_entry& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

evaluated<bool> apply_test(services& with, const test_entry& row, const value& input, const call_arguments& args) {
  if (args.positional.size() != row.arguments || !args.named.empty()) {
    return fail(fault::evaluation,
                "the test '" + std::string(row.name) + "' takes " + std::to_string(row.arguments) + " argument(s)");
  }
  INFER_TRYV(with.spent.spend_bytes(row.arguments == 0 ? input.own_bytes()
                                                       : comparison_cost(row.name, input, args.positional[0])));
  return row.test(with, input, args);
}

evaluated<bool> apply_test(services& with, std::string_view name, const value& input, const call_arguments& args) {
  if (const test_entry* row = find_test(name)) return apply_test(with, *row, input, args);
  return fail(fault::evaluation, "No test named '" + std::string(name) + "'.");
}

}  // namespace infer::templates
