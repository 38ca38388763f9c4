// Recognises what people open by mistake where a GGUF model was meant.
#pragma once

#include <string>

#include "engine/core/bytes.h"

namespace infer::formats {

/// For a file without the GGUF magic: what it is instead and what to do, to follow the file's name and a colon.
std::string describe_foreign(byte_view file);

}  // namespace infer::formats
