// What can be wrong with a vocabulary.
#pragma once

#include "engine/core/result.h"

namespace infer::tokenize {

enum class fault {
  unknown_model = 1,      // the vocabulary's algorithm is not one this program has
  unknown_pre_tokenizer,  // the splitting rule is not one this program has
  malformed,              // counts, ids, types or merges that contradict each other
  unsupported,            // a step of a tokenizer.json that this program has not
};

}  // namespace infer::tokenize

INFER_FAULT_ENUM(infer::tokenize, fault, "tokenizer");
