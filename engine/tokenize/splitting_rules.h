// The named splitting rules of GGUF vocabularies (`tokenizer.ggml.pre`). One table row per rule.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenize/fault.h"

namespace infer::tokenize {

/// GPT-2's expression, which byte-level tokenizers use where they name no other.
extern const std::string_view gpt2_expression;

/// Regular expressions in Oniguruma's syntax, applied one after the other, each inside the pieces of the one before;
/// what no expression matches stays as pieces too.
struct splitting_rule {
  std::string_view name;
  std::vector<std::string_view> expressions;
  bool ignores_merges = false;  // a piece that is itself in the vocabulary becomes that token without merging
  bool adds_bos = false;        // a vocabulary that does not say starts its texts with bos
};

/// All of them.
std::span<const splitting_rule> splitting_rules();

/// Errors: unknown_pre_tokenizer with the name.
result<const splitting_rule*> find_splitting_rule(std::string_view name);

}  // namespace infer::tokenize
