// A request of a client after it was understood: what to compute and in which shape to answer.
#pragma once

#include "protocol/messages/requests.h"

namespace infer::http {

enum class call_kind : std::uint8_t { chat, completion, tokenize, detokenize };

struct call {
  call_kind kind{};
  msg::generate generate;
  bool stream = false;
  bool include_usage = false;  // streams: a last chunk with the usage, "usage": null in the others
};

}  // namespace infer::http
