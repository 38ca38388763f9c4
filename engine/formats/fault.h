// What can be wrong with a model file.
#pragma once

#include "engine/core/result.h"

namespace infer::formats {

enum class fault {
  cannot_open = 1,  // the file is missing, unreadable or a folder
  not_a_model,      // wrong magic; the detail says what the file is instead
  unsupported,      // a version, byte order or type this program does not read
  malformed,        // counts, lengths, names, alignment or offsets that contradict each other or the file
  truncated,        // the file ends before what its header promises
  missing_shard,    // one part of a split model is absent
  missing_key,      // a metadata key that is needed is absent
  wrong_type,       // a metadata key holds another type, or a value outside its range
  missing_tensor,   // a tensor that the architecture needs is absent or misshapen
};

}  // namespace infer::formats

INFER_FAULT_ENUM(infer::formats, fault, "model file");
