// A model file as text for people: what `inspect` prints.
#pragma once

#include <string>

#include "engine/formats/model_file.h"

namespace infer::formats {

/// Lines about the file: a summary, all metadata keys with their values shortened, bytes per tensor type, and the
/// tensor table (all of it, or its first rows and how many are left out). Ends with a line break.
std::string describe(const model_file& file, bool all_tensors);

}  // namespace infer::formats
