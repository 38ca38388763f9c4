// Recognises what people open by mistake where a GGUF model was meant.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/bytes.h"

namespace infer::formats {

/// What a file was taken for.
enum class wanted_format : std::uint8_t { gguf, safetensors };

/// For a file without the GGUF magic, or one whose begin is not a safetensors header's: what it is instead and what to
/// do, to follow the file's name and a colon.
std::string describe_foreign(byte_view file, wanted_format wanted = wanted_format::gguf);

}  // namespace infer::formats
