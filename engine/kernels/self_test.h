// The check that a table of kernels computes on this CPU what the normative one computes, to the bit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kernels/ops.h"

namespace infer::kernels {

struct self_test_report {
  std::string_view table;
  std::uint32_t checks = 0;           // results compared
  std::vector<std::string> failures;  // which operation, type and shape, and the first value that is wrong

  bool passed() const { return failures.empty(); }
};

/// Runs every operation of the table, the linear one and the embedding for every type of weights, the ones over keys
/// and values for every type of those, on small fixed inputs, and compares with `normative`. Threads: any; on the
/// calling one. Memory: a few MiB. Takes some 0.1 s.
self_test_report self_test(const op_table& ops, const op_table& normative = reference_ops());

}  // namespace infer::kernels
