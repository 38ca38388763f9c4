// Reads everything that a model file offers: what the fuzz target and the replay of its corpus run.
#pragma once

#include <cstdint>

#include "engine/core/bytes.h"

namespace infer::test_support {

/// Parses `bytes` as a model and, where that succeeds, reads every key through every accessor, every tensor's data to
/// its last byte, and the description. Returns a sum over what was read, so that no reading is left out; 0 for an
/// error. Ends the process where the object contradicts itself.
std::uint64_t touch_gguf(byte_view bytes);

}  // namespace infer::test_support
