// The header of one safetensors file: a checked table of tensors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/formats/model_file.h"

namespace infer::formats {

/// A tensor and its name as the file has it. `info.name` is not set; `info.offset` counts from the file's start.
struct safetensors_entry {
  std::string name;
  tensor_info info;
  std::string fault;  // for info.fault, which is not set
};

/// Longest header that is read, in bytes.
inline constexpr std::uint64_t most_safetensors_header_bytes = 100'000'000;

/// Parses and checks everything but the tensors' data: the buffer is covered without holes or overlaps, every size is
/// that of its shape. Types that no weight can have here (U8, BOOL) are given as integers of the same size. Tensors
/// with more than four axes (the slowest are joined) or of a type that is not known (as bytes) have a fault: a file may
/// hold them beside those that a model needs.
/// Errors:  not_a_model, malformed, truncated; `file_name` begins the sentence.
/// Memory:  allocates in proportion to the header's bytes.
result<std::vector<safetensors_entry>> parse_safetensors(byte_view file, std::string_view file_name);

}  // namespace infer::formats
