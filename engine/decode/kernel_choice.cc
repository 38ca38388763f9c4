// Tuning of the table that executors take.
#include "engine/decode/kernel_choice.h"

#include "engine/core/user_folders.h"
#include "engine/kernels/tuning.h"

namespace infer::decode {

void tune_kernels(const std::filesystem::path& file) {
  kernels::tune(kernels::best_ops(), file);
}

std::filesystem::path default_tuning_file() {
  const auto folder = cache_folder();
  return folder.empty() ? folder : folder / "kernels.tsv";
}

}  // namespace infer::decode
