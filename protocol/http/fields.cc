// Typed members of request objects.
#include "protocol/http/fields.h"

#include <cmath>
#include <limits>

#include "protocol/http/json_text.h"
#include "protocol/http/status.h"

namespace infer::http {
namespace {

namespace json = boost::json;

/// `value` as a message may show it.
std::string shown(const json::value& value) {
  std::string text = write_json(value);
  if (text.size() > 60) text = to_valid_utf8(text.substr(0, 57)) + "...";
  return text;
}

http_error wrong(const fields& from, std::string_view name, const std::string& wanted, const json::value& got) {
  const std::string path = from.path_of(name);
  return invalid_value(path, "'" + path + "' must be " + wanted + ", not " + shown(got));
}

std::string number_text(double value) {
  std::string text = write_json(json::value(value));
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

const json::value* fields::find(std::string_view name) const {
  const json::value* const found = object.if_contains({name.data(), name.size()});
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::optional<std::int64_t> as_integer(const json::value& value) {
  if (const auto* whole = value.if_int64()) return *whole;
  const auto* real = value.if_double();
  if (real != nullptr && std::trunc(*real) == *real && std::abs(*real) <= 9007199254740992.0)
    return static_cast<std::int64_t>(*real);
  return std::nullopt;
}

parsed<std::optional<bool>> read_bool(const fields& from, std::string_view name) {
  const json::value* const value = from.find(name);
  if (value == nullptr) return std::optional<bool>();
  if (!value->is_bool()) return refuse(wrong(from, name, "true or false", *value));
  return std::optional<bool>(value->get_bool());
}

parsed<const json::string*> read_string(const fields& from, std::string_view name) {
  const json::value* const value = from.find(name);
  if (value == nullptr) return static_cast<const json::string*>(nullptr);
  if (!value->is_string()) return refuse(wrong(from, name, "a string", *value));
  return &value->get_string();
}

parsed<std::optional<double>> read_number(const fields& from, std::string_view name, double low, double high) {
  const json::value* const value = from.find(name);
  if (value == nullptr) return std::optional<double>();
  double number = std::numeric_limits<double>::quiet_NaN();
  if (value->is_number()) number = value->to_number<double>();
  if (!(number >= low && number <= high))
    return refuse(wrong(from, name, "a number between " + number_text(low) + " and " + number_text(high), *value));
  return std::optional<double>(number);
}

parsed<std::optional<std::int64_t>> read_integer(const fields& from, std::string_view name, std::int64_t low,
                                                 std::int64_t high) {
  const json::value* const value = from.find(name);
  if (value == nullptr) return std::optional<std::int64_t>();
  const std::optional<std::int64_t> number = as_integer(*value);
  if (!number || *number < low || *number > high)
    return refuse(
        wrong(from, name, "a whole number between " + std::to_string(low) + " and " + std::to_string(high), *value));
  return number;
}

parsed<const json::object*> read_object(const fields& from, std::string_view name) {
  const json::value* const value = from.find(name);
  if (value == nullptr) return static_cast<const json::object*>(nullptr);
  if (!value->is_object()) return refuse(wrong(from, name, "an object", *value));
  return &value->get_object();
}

parsed<const json::array*> read_array(const fields& from, std::string_view name) {
  const json::value* const value = from.find(name);
  if (value == nullptr) return static_cast<const json::array*>(nullptr);
  if (!value->is_array()) return refuse(wrong(from, name, "an array", *value));
  return &value->get_array();
}

}  // namespace infer::http
