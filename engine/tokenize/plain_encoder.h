// What a vocabulary's algorithm does with text in which no special token stands.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/core/ids.h"

namespace infer::tokenize {

/// Threads: immutable; any thread may encode.
struct plain_encoder {
  virtual ~plain_encoder() = default;
  /// Appends the tokens of `text`, a stretch between special tokens or the ends of the text; well-formed UTF-8.
  virtual void encode(std::string_view text, std::vector<token_id>& out) const = 0;
  /// The ordinary token with these bytes.
  virtual std::optional<token_id> find(std::string_view bytes) const = 0;
  /// Whether a vocabulary that does not say starts its texts with bos.
  virtual bool adds_bos() const = 0;
  /// Whether `encode` puts a space before what it is given.
  virtual bool adds_space() const { return false; }
};

}  // namespace infer::tokenize
