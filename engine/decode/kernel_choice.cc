// Tuning of the table that executors take.
#include "engine/decode/kernel_choice.h"

#include <cstdlib>

#include "engine/kernels/tuning.h"

namespace infer::decode {

void tune_kernels(const std::filesystem::path& file) {
  kernels::tune(kernels::best_ops(), file);
}

std::filesystem::path default_tuning_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::filesystem::path(cache) / "infer-node" / "kernels.tsv";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr ? home : "/") / ".cache" / "infer-node" / "kernels.tsv";
}

}  // namespace infer::decode
