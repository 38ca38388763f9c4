// The sampling parameters of a request, by OpenAI's names and by those of llama.cpp's server.
#pragma once

#include <string_view>

#include "protocol/http/fields.h"
#include "protocol/messages/streams.h"

namespace infer::http {

/// Reads them into `out`, which holds the defaults. Keys of logit_bias that are no token ids are ignored in OpenAI's
/// object form; llama.cpp's array form takes ids and texts, and false for "never"; equal ones are added up. There may
/// be 8,192 of them, with texts of 1 KiB each and 64 KiB together, and 64 breakers of 64 bytes each.
/// Errors:  400 with the path.
parsed<void> read_sampler(const fields& from, msg::sampling& out);

/// The letters of a chain for names such as "top_k"; empty where a name is unknown.
/// Errors:  400 with `path` where a name is none or there are too many.
parsed<std::string> stages_of_names(const std::vector<std::string>& names, const std::string& path);

/// Checks letters such as "edkypmxt".
parsed<std::string> stages_of_letters(std::string_view letters, const std::string& path);

/// Everything of it as llama.cpp's server names it, for /props and for a request to another server.
boost::json::object sampling_body(const msg::sampling& sampling);

}  // namespace infer::http
