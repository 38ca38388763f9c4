// Error bodies, and the answers that are not generated text: models, health, token ids.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string_view>

#include "protocol/http/http_error.h"
#include "protocol/messages/models.h"
#include "protocol/messages/requests.h"

namespace infer::http {

/// {"error": {message, type, param, code}}: all four always there, param and code string or null.
boost::json::object error_body(const http_error& error);

/// One model with OpenAI's and Anthropic's members and its state.
boost::json::object model_body(const msg::model_row& row);
/// The list of them.
boost::json::object models_body(const msg::model_list& list);
/// The row that `name` means, by id first, then by alias; nullptr where there is none.
const msg::model_row* find_model(const msg::model_list& list, std::string_view name);

/// llama.cpp's {"status": "ok"}, plus the models. `ok` is false while a model is loading and none is ready.
boost::json::object health_body(const msg::model_list& list, bool& ok);

/// {"tokens": [id, …]}, or [{"id", "piece"}, …] where pieces were asked for: a piece is a string, or the list of its
/// bytes where they are no UTF-8.
boost::json::object tokenize_body(const msg::text_transformed& event, bool with_pieces);
/// llama.cpp's /props of a model: what a request gets where it says nothing, slots, template, special tokens.
boost::json::object props_body(const msg::model_row& row, const msg::sampling& defaults, const std::string& build);
/// llama.cpp's /slots: one entry for each sequence that may run at once.
boost::json::array slots_body(const msg::model_row& row);

/// {"content": text}.
boost::json::object detokenize_body(const msg::text_transformed& event);
/// {"prompt": text}.
boost::json::object apply_template_body(const msg::text_transformed& event);

}  // namespace infer::http
