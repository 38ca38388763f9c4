// Reading the members of JSON objects whose shape a file promises but may not keep.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/core/result.h"
#include "engine/tokenize/fault.h"

namespace infer::tokenize {

/// Parses one document. Memory:  the value's; views into it live as long.
/// Errors: malformed, with `name` and the place.
result<boost::json::value> parse_json(std::string_view text, std::string_view name);

/// The member, where it is there and of that type; else nothing.
const boost::json::object* object_at(const boost::json::object& in, std::string_view key);
const boost::json::array* array_at(const boost::json::object& in, std::string_view key);
std::optional<std::string_view> text_at(const boost::json::object& in, std::string_view key);
std::optional<bool> flag_at(const boost::json::object& in, std::string_view key);
std::optional<std::int64_t> integer_at(const boost::json::object& in, std::string_view key);

/// The number as an integer, where it is one that fits.
std::optional<std::int64_t> integer_of(const boost::json::value& value);
std::optional<std::string_view> text_of(const boost::json::value& value);

}  // namespace infer::tokenize
