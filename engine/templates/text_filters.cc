// Filters that make strings and numbers.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "engine/templates/filter_table.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"
#include "engine/templates/text_functions.h"
#include "engine/templates/unicode.h"

namespace infer::templates {
namespace {

using args_t = const call_arguments&;

template <std::string (*Change)(std::string_view)>
evaluated<value> changed(services&, const value& input, args_t) {
  return value::data(Change(to_text(input).view()));
}

// The filter's own idea of a title: words start after white space, hyphens and opening brackets.
std::string words_capitalized(std::string_view bytes) {
  std::string made;
  std::size_t begin = 0;
  const auto finish = [&](std::size_t end) { made += capitalize(bytes.substr(begin, end - begin)); };
  for (std::size_t at = 0; at < bytes.size();) {
    const character one = first_character(bytes.substr(at));
    if (is_space(one.code) || std::u32string_view(U"-({[<").find(one.code) != std::u32string_view::npos) {
      finish(at);
      made += bytes.substr(at, one.bytes);
      begin = at + one.bytes;
    }
    at += one.bytes;
  }
  finish(bytes.size());
  return made;
}

evaluated<value> trim(services& with, const value& input, args_t args) {
  const value* given = args.get(0, "chars");
  const text* set = given == nullptr ? nullptr : given->as_text();
  if (set != nullptr) {
    INFER_TRYV(with.spent.spend_bytes(set->size()));
  }
  if (const text* string = input.as_text()) {
    text made = strip(*string, set, true, true);
    return made.size() == string->size() ? input : value(std::move(made));
  }
  return value(strip(to_text(input), set, true, true));
}

evaluated<value> string(services&, const value& input, args_t) {
  if (input.as_text() != nullptr) return input;
  return value(to_text(input));
}

evaluated<value> replace_filter(services& with, const value& input, args_t args) {
  const value *from = args.get(0, "old"), *to = args.get(1, "new");
  if (from == nullptr || to == nullptr) return fail(fault::evaluation, "replace needs what to replace and by what");
  const value* given = args.get(2, "count");
  const std::int64_t count = given == nullptr ? -1 : given->as_integer().value_or(-1);
  INFER_TRY(auto made, replace(with.spent, to_text(input), to_text(*from), to_text(*to), count));
  return value(std::move(made));
}

evaluated<value> escape(services& with, const value& input, args_t) {
  INFER_TRY(auto made, escaped(with.spent, to_text(input)));
  return value(std::move(made));
}

evaluated<value> force_escape(services& with, const value& input, args_t) {
  INFER_TRY(auto made, escaped(with.spent, to_text(input).replace("", text(), 0)));
  return value(std::move(made));
}

evaluated<value> safe(services&, const value& input, args_t) {
  text made = to_text(input);
  made.mark_as_markup();
  return value(std::move(made));
}

evaluated<value> indent(services& with, const value& input, args_t args) {
  const value* width = args.get(0, "width");
  text prefix("    ", true);
  if (width != nullptr && width->as_text() != nullptr) {
    prefix = *width->as_text();
  } else if (width != nullptr) {
    const std::int64_t count = width->as_integer().value_or(4);
    if (count > 1000) return fail(fault::limit, "an indent of more than 1000");
    prefix = text(std::string(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), ' '), true);
  }
  const bool first = args.flag(1, "first", false), blank = args.flag(2, "blank", false);
  text source = to_text(input);
  source.append("\n", true);  // the reference adds one, so that the last line counts as a line
  const auto lines = split_lines(source, false);
  INFER_TRYV(with.spent.spend_bytes(source.size() + lines.size() * (prefix.size() + 1)));
  text made;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) made.append("\n", true);
    if (i == 0 ? first : blank || !lines[i].empty()) made.append(prefix);
    made.append(lines[i]);
  }
  return value(std::move(made));
}

evaluated<value> tojson(services& with, const value& input, args_t args) {
  json_style style;
  style.ensure_ascii = args.flag(0, "ensure_ascii", false);
  if (const value* given = args.get(1, "indent"); given != nullptr && !given->is_none()) {
    const auto width = given->as_integer();
    if (!width || *width > 64) return fail(fault::evaluation, "indent must be an integer up to 64");
    style.indent = static_cast<int>(std::max<std::int64_t>(*width, 0));
    style.item_separator = ",";
  }
  if (const value* given = args.get(2, "separators"); given != nullptr && !given->is_none()) {
    const sequence* pair = given->as_sequence();
    if (pair == nullptr || pair->items.size() != 2)
      return fail(fault::evaluation, "separators must be a pair of strings");
    style.item_separator = to_text(pair->items[0]).view();
    style.key_separator = to_text(pair->items[1]).view();
  }
  style.sort_keys = args.flag(3, "sort_keys", false);
  const auto indents = static_cast<std::uint64_t>(std::max(style.indent, 0)) * (input.depth() + 1);
  INFER_TRYV(with.spent.spend_bytes(input.weight() *
                                    (indents + style.item_separator.size() + style.key_separator.size() + 1)));
  INFER_TRY(auto made, to_json(input, style));
  return value::data(std::move(made));
}

// Python's int(text, base) or float(text): nothing where it would raise.
std::optional<std::int64_t> parse_integer(std::string_view bytes, int base) {
  const byte_range kept = stripped(bytes, nullptr, true, true);
  std::string digits(bytes.substr(kept.begin, kept.end - kept.begin));
  const bool minus = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (minus || digits[0] == '+')) digits.erase(0, 1);
  const auto prefixed = [&](char letter) {
    return digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == letter;
  };
  if ((base == 16 && prefixed('x')) || (base == 8 && prefixed('o')) || (base == 2 && prefixed('b'))) digits.erase(0, 2);
  std::erase(digits, '_');
  if (digits.empty() || digits[0] == '-' || digits[0] == '+' || base < 2 || base > 36) return std::nullopt;
  if (minus) digits.insert(digits.begin(), '-');
  std::int64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::optional<double> parse_real(std::string_view bytes) {
  const byte_range kept = stripped(bytes, nullptr, true, true);
  std::string digits(bytes.substr(kept.begin, kept.end - kept.begin));
  std::erase(digits, '_');
  if (!digits.empty() && digits[0] == '+') digits.erase(0, digits.size() > 1 && digits[1] == '-' ? digits.size() : 1);
  double number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec == std::errc::result_out_of_range) number = std::strtod(digits.c_str(), nullptr);  // infinity or zero
  if (digits.empty() || parsed.ec == std::errc::invalid_argument || parsed.ptr != digits.data() + digits.size())
    return std::nullopt;
  return number;
}

bool fits_integer(double number) {
  return number > -9.2e18 && number < 9.2e18;
}

evaluated<value> integer(services&, const value& input, args_t args) {
  if (input.is_undefined()) return fail(undefined_error(input));
  const value* given = args.get(0, "default");
  const value otherwise = given == nullptr ? value(std::int64_t{0}) : *given;
  INFER_TRY(const std::int64_t base, args.integer(1, "base", 10));
  if (const auto number = input.as_integer()) return value(*number);
  std::optional<double> real;
  if (const double* number = input.as_real()) real = *number;
  if (const text* digits = input.as_text()) {
    if (const auto number = parse_integer(digits->view(), static_cast<int>(base))) return value(*number);
    real = parse_real(digits->view());
  }
  if (real && fits_integer(*real)) return value(static_cast<std::int64_t>(*real));
  return otherwise;
}

evaluated<value> real(services&, const value& input, args_t args) {
  if (input.is_undefined()) return fail(undefined_error(input));
  if (const auto number = input.as_number()) return value(*number);
  if (const text* digits = input.as_text()) {
    if (const auto number = parse_real(digits->view())) return value(*number);
  }
  const value* given = args.get(0, "default");
  return given == nullptr ? value(0.0) : *given;
}

evaluated<value> absolute(services&, const value& input, args_t) {
  if (const auto number = input.as_integer()) return *number < 0 ? negated(value(*number)) : value(*number);
  if (const double* number = input.as_real()) return value(std::abs(*number));
  if (input.is_undefined()) return fail(undefined_error(input));
  return fail(fault::evaluation, "bad operand type for abs(): '" + std::string(type_name(input)) + "'");
}

// To tens, hundreds and so on, half to even: 10 to the power of `digits` times a whole number.
evaluated<value> rounded_to_power(std::int64_t number, std::int64_t digits) {
  if (digits > 19) return value(std::int64_t{0});  // less than half of 10^20
  __int128 unit = 1;
  for (std::int64_t i = 0; i < digits; ++i) unit *= 10;
  __int128 count = number / unit;
  const __int128 rest = number % unit, twice = 2 * (rest < 0 ? -rest : rest);
  if (twice > unit || (twice == unit && count % 2 != 0)) count += number < 0 ? -1 : 1;
  const __int128 made = count * unit;
  if (made > INT64_MAX || made < INT64_MIN) return fail(fault::evaluation, "an integer beyond 64 bits");
  return value(static_cast<std::int64_t>(made));
}

// The same, of what the number really is.
double rounded_to_power(double number, std::size_t digits) {
  char room[1400];  // 309 digits before the point and 1074 behind it write every finite number exactly
  const auto end = std::to_chars(room, room + sizeof room, std::abs(number), std::chars_format::fixed, 1074).ptr;
  std::string_view exact(room, static_cast<std::size_t>(end - room));
  const std::size_t whole = exact.find('.');
  if (digits > whole) return std::copysign(0.0, number);
  std::string kept(exact.substr(0, whole - digits));
  const std::string_view rest = exact.substr(kept.size());
  const bool more = rest.find_first_not_of("0.", 1) != std::string_view::npos;
  const bool odd = !kept.empty() && (kept.back() - '0') % 2 != 0;
  if (rest[0] > '5' || (rest[0] == '5' && (more || odd))) {
    std::size_t at = kept.find_last_not_of('9');
    if (at == std::string::npos) {
      kept.insert(0, 1, '0');
      at = 0;
    }
    ++kept[at];
    std::fill(kept.begin() + static_cast<std::ptrdiff_t>(at) + 1, kept.end(), '0');
  }
  kept.append(digits, '0');
  return std::copysign(parse_real(kept).value_or(0), number);
}

// Python's round().
evaluated<value> rounded_commonly(const value& input, double number, std::int64_t precision) {
  if (input.as_real() == nullptr) {
    const std::int64_t whole = *input.as_integer();
    return precision >= 0 ? value(whole) : rounded_to_power(whole, precision < -20 ? 20 : -precision);
  }
  if (!std::isfinite(number) || precision > 323) return value(number);  // no double has more digits that matter
  if (precision < 0)
    return value(rounded_to_power(number, precision < -400 ? 400 : static_cast<std::size_t>(-precision)));
  char room[700];  // the decimal form is rounded exactly, half to even on what the number really is
  const auto end =
      std::to_chars(room, room + sizeof room, number, std::chars_format::fixed, static_cast<int>(precision)).ptr;
  return value(parse_real(std::string_view(room, static_cast<std::size_t>(end - room))).value_or(number));
}

evaluated<value> rounded(services&, const value& input, args_t args) {
  const auto number = input.as_number();
  if (!number) return fail(fault::evaluation, "type " + std::string(type_name(input)) + " cannot be rounded");
  INFER_TRY(const std::int64_t precision, args.integer(0, "precision", 0));
  INFER_TRY(const text method, args.string(1, "method", "common"));
  if (method.view() == "common") return rounded_commonly(input, *number, precision);
  if (precision < -300 || precision > 300) return fail(fault::evaluation, "a precision out of range");
  const double scale = std::pow(10.0, static_cast<double>(precision));
  // A zero of either sign is the integer 0 on the way.
  if (method.view() == "ceil") return value((std::ceil(*number * scale) + 0.0) / scale);
  if (method.view() == "floor") return value((std::floor(*number * scale) + 0.0) / scale);
  return fail(fault::evaluation, "method must be common, ceil or floor");
}

evaluated<value> format_filter(services& with, const value& input, args_t args) {
  return format_percent(to_text(input), value::tuple(args.positional), with.spent);
}

evaluated<value> wordcount(services& with, const value& input, args_t) {
  INFER_TRY(const auto words, split(with.spent, to_text(input), nullptr, -1, false));
  return value(static_cast<std::int64_t>(words.size()));
}

evaluated<value> center(services& with, const value& input, args_t args) {
  INFER_TRY(const std::int64_t width, args.integer(0, "width", 80));
  const text of = to_text(input);
  const auto length = static_cast<std::int64_t>(count_characters(of.view()));
  if (width <= length) return value(of);
  const std::int64_t missing = width - length;
  INFER_TRYV(with.spent.spend_bytes(static_cast<std::uint64_t>(width)));
  const std::int64_t left = missing / 2 + (missing & width & 1);  // Python's choice for odd gaps
  text made(std::string(static_cast<std::size_t>(left), ' '), true);
  made.append(of);
  made.append(std::string(static_cast<std::size_t>(missing - left), ' '), true);
  return value(std::move(made));
}

evaluated<value> truncate(services&, const value& input, args_t args) {
  INFER_TRY(const std::int64_t length, args.integer(0, "length", 255));
  const bool cuts_words = args.flag(1, "killwords", false);
  INFER_TRY(const text end, args.string(2, "end", "..."));
  INFER_TRY(const auto given, args.bound(3, "leeway"));
  const std::int64_t leeway = given.value_or(5);
  const auto end_length = static_cast<std::int64_t>(count_characters(end.view()));
  if (length < end_length) return fail(fault::evaluation, "truncate to less than the length of its end");
  if (leeway < 0) return fail(fault::evaluation, "truncate with a negative leeway");
  const text of = to_text(input);
  const auto size = static_cast<std::int64_t>(count_characters(of.view()));
  if (size <= length || size - length <= leeway) return input;
  std::size_t kept = offset_of_character(of.view(), static_cast<std::size_t>(length - end_length));
  const std::size_t space = cuts_words ? std::string_view::npos : of.view().substr(0, kept).rfind(' ');
  if (space != std::string_view::npos) kept = space;
  text made = of.slice(0, kept);
  made.append(end);
  return value(std::move(made));
}

evaluated<value> printed(services&, const value& input, args_t) {
  return value::data(to_repr(input));
}

constexpr std::array<filter_entry, 22> table = {{
    {"trim", trim, true},
    {"string", string, true},
    {"safe", safe, true},
    {"upper", changed<to_upper>, true},
    {"lower", changed<to_lower>, true},
    {"capitalize", changed<capitalize>, true},
    {"title", changed<words_capitalized>, true},
    {"replace", replace_filter, true},
    {"escape", escape, true},
    {"e", escape, true},
    {"forceescape", force_escape, true},
    {"indent", indent, true},
    {"tojson", tojson, true},
    {"int", integer, true},
    {"float", real, true},
    {"abs", absolute, true},
    {"round", rounded, true},
    {"format", format_filter, true},
    {"wordcount", wordcount, true},
    {"center", center, true},
    {"truncate", truncate, true},
    {"pprint", printed, true},
}};

}  // namespace

std::span<const filter_entry> text_filters() {
  return table;
}

}  // namespace infer::templates
