// All tables through the self-test.
#include "engine/decode/kernel_check.h"

#include <chrono>

#include "engine/kernels/self_test.h"

namespace infer::decode {

std::vector<kernel_check> check_kernels() {
  std::vector<kernel_check> out;
  for (const kernels::op_table* ops : kernels::all_ops()) {
    const auto start = std::chrono::steady_clock::now();
    kernels::self_test_report report = kernels::self_test(*ops);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    out.push_back({std::string(report.table), ops == &kernels::best_ops(), report.checks, std::move(report.failures),
                   took.count()});
  }
  return out;
}

}  // namespace infer::decode
