// A request of a client after it was understood: what to compute and in which shape to answer.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>

#include "protocol/messages/requests.h"

namespace infer::http {

enum class call_kind : std::uint8_t { chat, completion, infill, tokenize, detokenize, apply_template, embeddings };

struct call {
  call_kind kind{};
  msg::generate generate;
  bool stream = false;
  bool include_usage = false;    // streams: a last chunk with the usage, "usage": null in the others
  std::uint32_t kept = 1;        // of the choices of each prompt, those shown: the most likely
  bool show_logprobs = false;    // they may be asked for only to find the most likely choices
  boost::json::object metadata;  // given back; empty: none
  bool service_tier = false;     // was named
  bool base64 = false;           // embeddings: little-endian f32 instead of numbers
  std::uint32_t dimensions = 0;  // embeddings: so many of the first; 0: all

  std::uint32_t prompts() const { return static_cast<std::uint32_t>(1 + generate.more_prompts.size()); }
};

}  // namespace infer::http
