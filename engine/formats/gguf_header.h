// The header of one GGUF file: checked metadata and tensor table. Opening, mapping and split models are in gguf.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/formats/gguf.h"
#include "engine/formats/metadata.h"

namespace infer::formats {

/// All views point into the file's bytes. Every tensor lies inside the file; offsets count from the file's start.
struct gguf_header {
  std::uint32_t version = 0;
  metadata keys;
  std::vector<tensor_info> tensors;
};

/// Longest tensor name of the format, in bytes.
inline constexpr std::size_t most_name_bytes = 64;
/// Longest metadata key of the format, in bytes.
inline constexpr std::size_t most_key_bytes = 65535;

/// Parses and checks everything but the tensors' data. `file_name` begins the sentence of every error.
/// Errors:  not_a_model, unsupported, malformed, truncated, wrong_type (of general.alignment).
/// Memory:  allocates in proportion to the bytes that the file really has, whatever it claims.
result<gguf_header> parse_gguf_header(byte_view file, std::string_view file_name);

}  // namespace infer::formats
