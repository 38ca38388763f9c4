// Prompts that ask for what stands between two texts.
#pragma once

#include <optional>
#include <vector>

#include "engine/core/ids.h"
#include "engine/tokenize/tokenizer.h"
#include "protocol/messages/prompts.h"

namespace infer::actors {

/// The tokens by which a vocabulary marks the parts; `repository` and `file` are not in all of them.
struct infill_tokens {
  token_id prefix = 0, suffix = 0, middle = 0;
  std::optional<token_id> repository, file;
};

/// Nothing where the vocabulary was not made for it.
std::optional<infill_tokens> find_infill_tokens(const tokenize::tokenizer& vocabulary);

/// [repository] [file name text]… [file] prefix-token text suffix-token suffix middle-token, after bos where the
/// vocabulary puts one. Nothing as above.
std::optional<std::vector<token_id>> infill_ids(const tokenize::tokenizer& vocabulary, const msg::prompt& prompt);

}  // namespace infer::actors
