// Reads JSON with every number as its text has it. Boost.JSON 1.81's own reader is off by one in the last place for
// about one double in eleven of those that are written with 17 digits.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string_view>

namespace infer {

/// Brackets that may be open at once unless more are asked for.
inline constexpr std::size_t default_json_depth = 32;

/// The JSON value that is all of `text`, white space around it aside. Whole numbers beyond 64 bits become doubles; what
/// lies beyond a double's range becomes infinity or zero. Of equal keys the last one wins.
/// Errors:  `code`, as boost::json::parse sets it; the value is null then.
/// Threads: any.
boost::json::value read_json(std::string_view text, boost::json::error_code& code,
                             std::size_t max_depth = default_json_depth);

/// The value at the start of `text` and the bytes up to its end, or up to where it is wrong.
struct json_prefix {
  boost::json::value value;
  std::size_t bytes = 0;
};
/// Errors, threads: as of read_json, but for more text behind the value, which is no error.
json_prefix read_json_prefix(std::string_view text, boost::json::error_code& code,
                             std::size_t max_depth = default_json_depth);

}  // namespace infer
