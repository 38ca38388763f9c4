// The messages of a chat, and their form as JSON: for requests, and for the files that /save and /load use.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/infer_node/chat/chat_settings.h"
#include "engine/core/result.h"

namespace infer::apps {

struct chat_turn {
  std::string role;  // system, user or assistant
  std::string content;
  std::string reasoning;  // of an assistant's turn; empty: none

  friend bool operator==(const chat_turn&, const chat_turn&) = default;
};

/// [{"role", "content", "reasoning_content"}], the last where there is some.
boost::json::array messages_of(const std::vector<chat_turn>& turns);

/// {"messages": […]} with line breaks, for people to read.
std::string saved_text(const std::vector<chat_turn>& turns);
/// What saved_text made, or a bare array of messages.
/// Errors:  invalid_argument: no JSON, or which message is none and why.
result<std::vector<chat_turn>> turns_of(std::string_view text);

/// The body of a request for the next answer, without the parameters of the sampler: messages or prompt, limits, seed,
/// chat_template_kwargs.
boost::json::object chat_body(const std::vector<chat_turn>& turns, const chat_settings& settings);

}  // namespace infer::apps
