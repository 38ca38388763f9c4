// The door to the kernels' self-test for programs, which do not see the kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace infer::decode {

struct kernel_check {
  std::string table;
  bool chosen = false;  // the one that executors take
  std::uint32_t checks = 0;
  std::vector<std::string> failures;
  double seconds = 0;
};

/// Every table of this build that this CPU runs, the normative one first, compared with that one to the bit.
/// Threads: any; some 0.1 s for each table on the calling one.
std::vector<kernel_check> check_kernels();

}  // namespace infer::decode
