// Reading the members of a request object, each with its range, its path and a sentence about what is wrong with it.
// A member that is null counts as absent everywhere.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/http/http_error.h"

namespace infer::http {

/// An object of a request and where it stands in it ("" for the request itself, "stream_options." for a member's).
struct fields {
  const boost::json::object& object;
  std::string path;

  /// The member's value; nullptr where absent or null.
  const boost::json::value* find(std::string_view name) const;
  std::string path_of(std::string_view name) const { return path + std::string(name); }
};

/// Errors of all: 400 invalid_value with the path as param.
parsed<std::optional<bool>> read_bool(const fields& from, std::string_view name);
/// A number between `low` and `high`, both included.
parsed<std::optional<double>> read_number(const fields& from, std::string_view name, double low, double high);
/// A whole number between `low` and `high`, both included; 5.0 is whole.
parsed<std::optional<std::int64_t>> read_integer(const fields& from, std::string_view name, std::int64_t low,
                                                 std::int64_t high);
/// nullptr where absent.
parsed<const boost::json::string*> read_string(const fields& from, std::string_view name);
parsed<const boost::json::object*> read_object(const fields& from, std::string_view name);
parsed<const boost::json::array*> read_array(const fields& from, std::string_view name);

/// The whole number that a JSON value is, if it is one that an int64 holds.
std::optional<std::int64_t> as_integer(const boost::json::value& value);

}  // namespace infer::http
