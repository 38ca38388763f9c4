// Nothing here throws: boost's checked accessors are not used.
#include "engine/tokenize/json_fields.h"

#include <limits>
#include <string>

#include "engine/json/read.h"

namespace infer::tokenize {

namespace json = boost::json;

result<json::value> parse_json(std::string_view text, std::string_view name) {
  json::error_code error;
  json::value value = read_json(text, error);
  if (error) return fail(fault::malformed, std::string(name) + " is not JSON: " + error.message());
  return value;
}

const json::object* object_at(const json::object& in, std::string_view key) {
  const json::value* member = in.if_contains(key);
  return member == nullptr ? nullptr : member->if_object();
}

const json::array* array_at(const json::object& in, std::string_view key) {
  const json::value* member = in.if_contains(key);
  return member == nullptr ? nullptr : member->if_array();
}

std::optional<std::string_view> text_of(const json::value& value) {
  const json::string* text = value.if_string();
  return text == nullptr ? std::nullopt : std::optional(std::string_view(text->data(), text->size()));
}

std::optional<std::string_view> text_at(const json::object& in, std::string_view key) {
  const json::value* member = in.if_contains(key);
  return member == nullptr ? std::nullopt : text_of(*member);
}

std::optional<bool> flag_at(const json::object& in, std::string_view key) {
  const json::value* member = in.if_contains(key);
  const bool* flag = member == nullptr ? nullptr : member->if_bool();
  return flag == nullptr ? std::nullopt : std::optional(*flag);
}

std::optional<std::int64_t> integer_of(const json::value& value) {
  if (const std::int64_t* number = value.if_int64()) return *number;
  if (const std::uint64_t* number = value.if_uint64()) {
    if (*number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return static_cast<std::int64_t>(*number);
  }
  return std::nullopt;
}

std::optional<std::int64_t> integer_at(const json::object& in, std::string_view key) {
  const json::value* member = in.if_contains(key);
  return member == nullptr ? std::nullopt : integer_of(*member);
}

}  // namespace infer::tokenize
