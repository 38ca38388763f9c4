// Prompts of requests that are no conversations: texts and token ids, one or several.
#pragma once

#include <vector>

#include "protocol/http/fields.h"
#include "protocol/messages/requests.h"

namespace infer::http {

/// A string, a list of token ids, or a list of either: at least one and at most `most`.
/// Errors:  400 with the path.
parsed<std::vector<msg::prompt>> read_prompts(const fields& from, std::string_view name, std::size_t most);

/// Token ids of a prompt given as numbers.
parsed<std::vector<std::int32_t>> read_ids(const boost::json::array& items, const std::string& path);

}  // namespace infer::http
