// The sentences of the faults, for errors without a detail of their own.
#include "engine/formats/fault.h"

namespace infer::formats {

const char* fault_sentence(fault value) noexcept {
  switch (value) {
    case fault::cannot_open:
      return "the model file cannot be opened";
    case fault::not_a_model:
      return "the file is not a GGUF model";
    case fault::unsupported:
      return "the model file uses something that this program does not read";
    case fault::malformed:
      return "the model file contradicts itself";
    case fault::truncated:
      return "the model file ends too early";
    case fault::missing_shard:
      return "a part of the split model file is missing";
    case fault::missing_key:
      return "the model file lacks a metadata key";
    case fault::wrong_type:
      return "a metadata key of the model file holds another type or an impossible value";
    case fault::missing_tensor:
      return "the model file lacks a tensor, or holds it in another shape";
  }
  return "unknown fault of the model file";
}

}  // namespace infer::formats
