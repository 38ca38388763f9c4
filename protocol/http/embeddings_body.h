// The answer to a request for embeddings.
#pragma once

#include <boost/json/object.hpp>

#include "protocol/http/call.h"
#include "protocol/http/http_error.h"

namespace infer::http {

/// {"object": "list", "data": [{object, index, embedding}], model, usage}: in order of the inputs, as numbers or as
/// base64 of little-endian f32. With fewer dimensions wanted than there are the first ones stay, at length 1 again.
/// Errors:  400 dimensions, where more are wanted than there are.
parsed<boost::json::object> embeddings_body(const call& call, const msg::text_transformed& event);

/// RFC 4648.
std::string base64_of(std::string_view bytes);

}  // namespace infer::http
