// Cuts text into the pieces inside which merging happens. One table row per splitting rule.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenize/fault.h"

namespace infer::tokenize {

/// A named splitting rule: regular expressions applied one after the other, each inside the pieces of the one before;
/// what no expression matches stays as pieces too, so no byte is lost.
/// Threads: immutable; any thread may split.
class pre_tokenizer {
 public:
  /// Errors:  unknown_pre_tokenizer with the name.
  static result<pre_tokenizer> make(std::string_view name);

  /// The pieces of `text`, which must be well-formed UTF-8, in order; views into it. Linear in its length.
  std::vector<std::string_view> split(std::string_view text) const;

  /// A piece that is itself in the vocabulary becomes that token without merging.
  bool ignores_merges() const { return ignores_merges_; }
  /// Whether a vocabulary that does not say starts its texts with bos.
  bool adds_bos() const { return adds_bos_; }

 private:
  struct compiled;
  pre_tokenizer() = default;
  std::vector<std::shared_ptr<const compiled>> stages_;
  bool ignores_merges_ = false;
  bool adds_bos_ = false;
};

}  // namespace infer::tokenize
