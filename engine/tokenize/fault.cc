// The sentences of the tokenizer faults.
#include "engine/tokenize/fault.h"

namespace infer::tokenize {

const char* fault_sentence(fault value) noexcept {
  switch (value) {
    case fault::unknown_model:
      return "the vocabulary's algorithm is not supported";
    case fault::unknown_pre_tokenizer:
      return "the vocabulary's splitting rule is not supported";
    case fault::malformed:
      return "the vocabulary contradicts itself";
    case fault::unsupported:
      return "a step of the tokenizer is not supported";
  }
  return "unknown tokenizer fault";
}

}  // namespace infer::tokenize
