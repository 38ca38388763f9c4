// The conversation of a chat request: messages and tools.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "protocol/http/http_error.h"
#include "protocol/messages/prompts.h"

namespace infer::http {

/// `messages` with text content flattened. Roles: developer becomes system, function becomes tool. The client's object
/// is kept for templates, with role and content as here and any reasoning under `reasoning_content`.
/// Errors:  400 with the path: empty list, unknown role, content that is neither text nor null, parts that are not
/// text.
parsed<std::vector<msg::chat_message>> read_messages(const boost::json::object& request);

/// `tools` (or the older `functions`) as a JSON array for the template; empty where there is none. Tool types that only
/// a service of the vendor's could run are dropped. `tool_choice` must leave the choice to the model or be "none".
/// Errors:  400 with the path.
parsed<std::string> read_tools(const boost::json::object& request);

}  // namespace infer::http
