// The check of this build's kernels on this CPU.
#include "engine/decode/kernel_check.h"

#include <gtest/gtest.h>

#include "engine/kernels/ops.h"

namespace infer::decode {
namespace {

TEST(KernelCheck, CoversEveryTableAndMarksTheOneThatIsTaken) {
  const auto checks = check_kernels();
  ASSERT_EQ(checks.size(), kernels::all_ops().size());
  for (std::size_t at = 0; at < checks.size(); ++at) {
    EXPECT_EQ(checks[at].table, kernels::all_ops()[at]->name);
    EXPECT_EQ(checks[at].chosen, kernels::all_ops()[at] == &kernels::best_ops());
    EXPECT_TRUE(checks[at].failures.empty());
    EXPECT_EQ(checks[at].checks, checks[0].checks);
    EXPECT_GT(checks[at].seconds, 0);
  }
}

}  // namespace
}  // namespace infer::decode
