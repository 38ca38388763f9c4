// One JSON object per line in, one per line out.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>

#include "engine/core/result.h"

namespace infer::apps {

/// Feeds every line of standard input to `answer` and prints what it returns; a line that fails prints
/// {"error": "…"} and the exit code is 1.
int for_each_json_line(const std::function<result<boost::json::object>(const boost::json::object&)>& answer);

/// The "ids" array of a line as token ids.
result<std::vector<std::int32_t>> ids_of(const boost::json::object& line);

}  // namespace infer::apps
