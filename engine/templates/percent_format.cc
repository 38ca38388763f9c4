// Python's `pattern % values`.
#include <cstdio>

#include "engine/templates/operations.h"
#include "engine/templates/printing.h"
#include "engine/templates/unicode.h"

namespace infer::templates {
namespace {

constexpr int widest = 1000;

struct directive {
  std::string flags;
  int width = 0;
  int precision = -1;
  char kind = 's';
};

// Parses what follows a '%', from `at`; false where it is not a directive.
bool parse_directive(std::string_view pattern, std::size_t& at, directive& made) {
  const auto number = [&](int& into) {
    into = 0;
    while (at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9' && into <= widest) {
      into = into * 10 + (pattern[at++] - '0');
    }
  };
  while (at < pattern.size() && std::string_view("-+ #0").find(pattern[at]) != std::string_view::npos) {
    made.flags += pattern[at++];
  }
  number(made.width);
  if (at < pattern.size() && pattern[at] == '.') {
    ++at;
    number(made.precision);
  }
  if (at >= pattern.size() || made.width > widest || made.precision > widest) return false;
  made.kind = pattern[at++];
  return std::string_view("srdiuxXofFeEgG%c").find(made.kind) != std::string_view::npos;
}

std::string padded(std::string body, const directive& how) {
  const std::size_t length = count_characters(body);
  if (length >= static_cast<std::size_t>(how.width)) return body;
  const std::size_t missing = static_cast<std::size_t>(how.width) - length;
  return how.flags.find('-') != std::string::npos ? body + std::string(missing, ' ') : std::string(missing, ' ') + body;
}

evaluated<std::string> formatted(const directive& how, const value& item) {
  if (how.kind == 's' || how.kind == 'r') {
    std::string body = how.kind == 's' ? std::string(to_text(item).view()) : to_repr(item);
    if (how.precision >= 0) body.resize(offset_of_character(body, static_cast<std::size_t>(how.precision)));
    return padded(std::move(body), how);
  }
  const auto number = item.as_number();
  if (!number) {
    return fail(fault::evaluation,
                std::string("%") + how.kind + " format: a number is required, not " + std::string(type_name(item)));
  }
  std::string spec = "%" + how.flags + (how.width > 0 ? std::to_string(how.width) : "");
  if (how.precision >= 0) spec += "." + std::to_string(how.precision);
  char room[2600];
  if (std::string_view("diuxXoc").find(how.kind) != std::string_view::npos) {
    if (item.as_real() != nullptr &&
        (how.kind == 'x' || how.kind == 'X' || how.kind == 'o' || *number < -9.2e18 || *number > 9.2e18)) {
      return fail(fault::evaluation, std::string("%") + how.kind + " format: an integer is required, not float");
    }
    const long long whole = item.as_integer().value_or(static_cast<long long>(*number));
    spec += std::string("ll") + (how.kind == 'i' || how.kind == 'u' ? 'd' : how.kind);
    if (how.kind == 'c') return fail(fault::evaluation, "%c is not supported");
    std::snprintf(room, sizeof room, spec.c_str(), whole);
  } else {
    spec += how.kind;
    std::snprintf(room, sizeof room, spec.c_str(), *number);
  }
  return std::string(room);
}

}  // namespace

evaluated<value> format_percent(const text& pattern, const value& values, budget& spent) {
  const sequence* tuple = values.as_sequence();
  if (tuple != nullptr && tuple->kind != sequence_kind::tuple) tuple = nullptr;
  std::size_t used = 0;
  const std::size_t given = tuple != nullptr ? tuple->items.size() : 1;
  std::string out;
  const std::string_view view = pattern.view();
  for (std::size_t at = 0; at < view.size();) {
    if (view[at] != '%') {
      out += view[at++];
      continue;
    }
    ++at;
    directive how;
    if (!parse_directive(view, at, how))
      return fail(fault::evaluation, "unsupported format in '" + std::string(view) + "'");
    if (how.kind == '%') {
      out += '%';
      continue;
    }
    if (used == given) return fail(fault::evaluation, "not enough arguments for format string");
    const value& item = tuple != nullptr ? tuple->items[used] : values;
    INFER_TRYV(spent.spend_bytes(item.weight() + static_cast<std::uint64_t>(how.width)));
    INFER_TRY(const std::string body, formatted(how, item));
    out += body;
    INFER_TRYV(spent.allow_bytes(out.size()));
    ++used;
  }
  if (used < given && (tuple != nullptr || values.as_dictionary() == nullptr)) {
    return fail(fault::evaluation, "not all arguments converted during string formatting");
  }
  return value::data(std::move(out));
}

}  // namespace infer::templates
