// What is chosen for a CPU by measuring, because no flag tells: how far ahead to prefetch and how many panels to walk
// side by side while one token reads all weights. Changes no result.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/kernels/ops.h"

namespace infer::kernels {

struct tuning {
  std::uint32_t prefetch_bytes = 2304;
  std::uint32_t panels = 2;
  bool operator==(const tuning&) const = default;
};

/// Read by the SIMD bodies. Set before anything computes.
extern tuning current_tuning;

/// The fastest choice for a matrix too large for the nearer caches. Takes about 0.2 s and 48 MiB, on the calling
/// thread.
tuning measure_tuning(const op_table& ops);

/// Takes the choice for this CPU and table from `file`, or measures and keeps it there; a file that cannot be read or
/// written costs only the time to measure.
void tune(const op_table& ops, const std::filesystem::path& file);

}  // namespace infer::kernels
