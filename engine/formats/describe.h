// A model file as text for people: what `inspect` prints.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/formats/model_file.h"

namespace infer::formats {

struct type_sum {
  std::uint64_t tensors = 0, elements = 0, bytes = 0;
};

/// Counts and bytes per tensor type.
std::map<tensor_type, type_sum> sums_by_type(const model_file& file);

/// Lines about the file, each part ending with a line break: format, architecture, name and sums; all metadata keys
/// with their values shortened; bytes per tensor type; the tensor table, all of it, or its first rows and how many are
/// left out.
std::string describe_summary(const model_file& file);
std::string describe_keys(const model_file& file);
std::string describe_types(const model_file& file);
std::string describe_tensors(const model_file& file, bool all_tensors);

/// All parts, with empty lines between them.
std::string describe(const model_file& file, bool all_tensors);

/// 134515008 → "134,515,008".
std::string grouped(std::uint64_t number);

}  // namespace infer::formats
