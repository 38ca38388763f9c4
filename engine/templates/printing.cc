// Python-like printing and JSON.
#include "engine/templates/printing.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <list>

#include "engine/templates/unicode.h"

namespace infer::templates {
namespace {

void append_hex(std::string& out, const char* format, char32_t code) {
  char room[16];
  std::snprintf(room, sizeof room, format, static_cast<unsigned>(code));
  out += room;
}

std::string string_repr(std::string_view bytes) {
  const bool double_quotes = bytes.find('\'') != bytes.npos && bytes.find('"') == bytes.npos;
  const char quote = double_quotes ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t at = 0; at < bytes.size();) {
    const character one = first_character(bytes.substr(at));
    if (one.code == static_cast<char32_t>(quote) || one.code == '\\') {
      out += '\\';
      out += static_cast<char>(one.code);
    } else if (one.code == '\n') {
      out += "\\n";
    } else if (one.code == '\r') {
      out += "\\r";
    } else if (one.code == '\t') {
      out += "\\t";
    } else if (is_printable(one.code)) {
      out += bytes.substr(at, one.bytes);
    } else {
      append_hex(out, one.code < 0x100 ? "\\x%02x" : one.code < 0x10000 ? "\\u%04x" : "\\U%08x", one.code);
    }
    at += one.bytes;
  }
  return out += quote;
}

std::string joined_reprs(const std::vector<value>& items) {
  std::string out;
  for (const value& item : items) out.append(out.empty() ? "" : ", ").append(to_repr(item));
  return out;
}

std::string sequence_repr(const sequence& of) {
  const std::string inside = of.kind == sequence_kind::generator ? "" : joined_reprs(of.items);
  switch (of.kind) {
    case sequence_kind::list:
      return "[" + inside + "]";
    case sequence_kind::tuple:
      return "(" + inside + (of.items.size() == 1 ? ",)" : ")");
    case sequence_kind::generator:
      return "<generator object>";
    case sequence_kind::range: {
      if (of.items.empty()) return "range(0, 0)";
      return "range(" + to_repr(of.items.front()) + ", " +
             std::to_string(of.items.back().as_integer().value_or(0) + 1) + ")";
    }
    case sequence_kind::keys_view:
      return "dict_keys([" + inside + "])";
    case sequence_kind::values_view:
      return "dict_values([" + inside + "])";
    case sequence_kind::items_view:
      return "dict_items([" + inside + "])";
  }
  return "";
}

std::string dictionary_repr(const dictionary& of) {
  std::string out = "{";
  for (const auto& [key, item] : of.entries) {
    out.append(out.size() == 1 ? "" : ", ").append(to_repr(key)).append(": ").append(to_repr(item));
  }
  return out += "}";
}

}  // namespace

std::string float_repr(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char room[40];
  const auto end = std::to_chars(room, room + sizeof room, number, std::chars_format::scientific).ptr;
  const std::string_view scientific(room, static_cast<std::size_t>(end - room));
  const std::size_t e = scientific.find('e');
  int exponent = 0;
  const std::size_t sign = scientific[e + 1] == '+' ? 1 : 0;
  std::from_chars(scientific.data() + e + 1 + sign, end, exponent);
  if (exponent >= -4 && exponent < 16) {
    const auto fixed = std::to_chars(room, room + sizeof room, number, std::chars_format::fixed).ptr;
    std::string out(room, fixed);
    if (out.find('.') == std::string::npos) out += ".0";
    return out;
  }
  std::string out(scientific.substr(0, e));
  std::snprintf(room, sizeof room, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
  return out += room;
}

std::string to_repr(const value& of) {
  if (const text* string = of.as_text()) return string_repr(string->view());
  if (const sequence* items = of.as_sequence()) return sequence_repr(*items);
  if (const dictionary* items = of.as_dictionary()) return dictionary_repr(*items);
  if (of.is_undefined()) return "Undefined";
  if (of.is_none()) return "None";
  if (const bool* flag = of.as_bool()) return *flag ? "True" : "False";
  if (const auto* number = of.as_int()) return std::to_string(*number);
  if (const auto* number = of.as_real()) return float_repr(*number);
  if (of.as_namespace() != nullptr) return "<Namespace>";
  if (of.as_loop() != nullptr) return "<LoopContext>";
  return "<function " + of.as_callable()->name + ">";
}

text to_text(const value& of) {
  if (const text* string = of.as_text()) return *string;
  if (of.is_undefined()) return {};
  return text(to_repr(of), false);
}

namespace {

class json_writer {
 public:
  explicit json_writer(const json_style& style) : style_(style) {}

  evaluated<void> write(const value& of, int level) {
    if (const text* string = of.as_text()) {
      write_string(string->view());
    } else if (of.is_none()) {
      out += "null";
    } else if (const bool* flag = of.as_bool()) {
      out += *flag ? "true" : "false";
    } else if (const auto* number = of.as_int()) {
      out += std::to_string(*number);
    } else if (const auto* real = of.as_real()) {
      out += std::isnan(*real) ? "NaN" : std::isinf(*real) ? (*real < 0 ? "-Infinity" : "Infinity") : float_repr(*real);
    } else if (const dictionary* items = of.as_dictionary()) {
      return write_object(*items, level);
    } else if (const sequence* list = of.as_sequence();
               list != nullptr && (list->kind == sequence_kind::list || list->kind == sequence_kind::tuple)) {
      return write_array(*list, level);
    } else {
      return fail(fault::evaluation, "Object of type " + std::string(type_name(of)) + " is not JSON serializable");
    }
    return success();
  }

  std::string out;

 private:
  void new_line(int level) {
    if (style_.indent < 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(style_.indent) * static_cast<std::size_t>(level), ' ');
  }

  void separator(bool first, int level) {
    // With an indent the separator's trailing space would end a line.
    if (!first) out += style_.indent >= 0 && style_.item_separator == ", " ? "," : style_.item_separator;
    new_line(level);
  }

  evaluated<void> write_array(const sequence& list, int level) {
    if (list.items.empty()) {
      out += "[]";
      return success();
    }
    out += '[';
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      separator(i == 0, level + 1);
      INFER_TRYV(write(list.items[i], level + 1));
    }
    new_line(level);
    out += ']';
    return success();
  }

  evaluated<void> write_object(const dictionary& items, int level) {
    if (items.entries.empty()) {
      out += "{}";
      return success();
    }
    std::list<const std::pair<value, value>*> order;
    for (const auto& entry : items.entries) order.push_back(&entry);
    if (style_.sort_keys) {
      order.sort([](const auto* a, const auto* b) { return to_text(a->first).view() < to_text(b->first).view(); });
    }
    out += '{';
    for (const auto* entry : order) {
      separator(entry == order.front(), level + 1);
      INFER_TRYV(write_key(entry->first));
      out += style_.key_separator;
      INFER_TRYV(write(entry->second, level + 1));
    }
    new_line(level);
    out += '}';
    return success();
  }

  evaluated<void> write_key(const value& key) {
    if (const text* string = key.as_text()) {
      write_string(string->view());
      return success();
    }
    if (key.as_sequence() != nullptr || key.is_undefined()) {
      return fail(fault::evaluation, "keys must be str, int, float, bool or None, not " + std::string(type_name(key)));
    }
    out += '"';
    INFER_TRYV(write(key, 0));
    out += '"';
    return success();
  }

  void write_string(std::string_view bytes) {
    out += '"';
    for (std::size_t at = 0; at < bytes.size();) {
      const character one = first_character(bytes.substr(at));
      switch (one.code) {
        case '"':
          out += "\\\"";
          break;
        case '\\':
          out += "\\\\";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        case '\f':
          out += "\\f";
          break;
        case '\b':
          out += "\\b";
          break;
        default:
          if (one.code < 0x20) {
            append_hex(out, "\\u%04x", one.code);
          } else if (one.code < 0x80 || !style_.ensure_ascii) {
            out += bytes.substr(at, one.bytes);
          } else if (one.code < 0x10000) {
            append_hex(out, "\\u%04x", one.code);
          } else {
            append_hex(out, "\\u%04x", 0xD7C0 + (one.code >> 10));
            append_hex(out, "\\u%04x", 0xDC00 + (one.code & 0x3FF));
          }
      }
      at += one.bytes;
    }
    out += '"';
  }

  const json_style& style_;
};

}  // namespace

evaluated<std::string> to_json(const value& of, const json_style& style) {
  json_writer writer(style);
  INFER_TRYV(writer.write(of, 0));
  return std::move(writer.out);
}

}  // namespace infer::templates
