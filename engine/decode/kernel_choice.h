// The door to the kernels' tuning for programs, which do not see the kernels.
#pragma once

#include <filesystem>

namespace infer::decode {

/// Chooses for this CPU as `kernels::tune` does. Call before anything computes; without it the defaults serve.
void tune_kernels(const std::filesystem::path& file);

/// Where the choice is kept: `kernels.tsv` in the user's cache folder of infer-node.
std::filesystem::path default_tuning_file();

}  // namespace infer::decode
