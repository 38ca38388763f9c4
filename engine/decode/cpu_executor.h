// The executor on the CPU: runs a plan operation by operation over the kernel table.
#pragma once

#include "engine/kernels/ops.h"
#include "engine/plan/executor.h"

namespace infer::decode {

/// Threads: one step at a time; the calling thread computes.
/// Memory:  scratch for `max_batch_tokens` rows is taken at prepare; a step allocates nothing after the first.
class cpu_executor final : public plan::executor {
 public:
  explicit cpu_executor(const kernels::op_table& ops = kernels::best_ops()) : ops_(ops) {}

  result<plan::program_ptr> prepare(const plan::plan& p, const plan::weight_table& weights, plan::page_memory& pages,
                                    const plan::program_options& options) override;
  result<plan::ticket> submit(plan::program& on, std::span<const plan::batch_row> rows) override;
  result<plan::step_result> collect(plan::program& on, plan::ticket step, plan::row_sink& sink) override;
  void set_tap(plan::tap_fn tap) override { tap_ = std::move(tap); }

 private:
  const kernels::op_table& ops_;
  plan::tap_fn tap_;
};

/// Bytes of scratch that a program of this plan takes.
std::uint64_t scratch_bytes(const plan::plan& p, const plan::program_options& options);

}  // namespace infer::decode
