// The executor on the CPU: runs a plan phase by phase over the kernel table, on the compute pool.
#pragma once

#include <memory>

#include "engine/kernels/ops.h"
#include "engine/plan/executor.h"
#include "engine/threads/compute_lane.h"

namespace infer::decode {

/// Threads: one step at a time; the calling thread computes with the lane's pool. Who collects holds a turn of the
/// lane;
///          `prepare` takes turns itself, of a few milliseconds each.
/// Memory:  scratch for `max_batch_tokens` rows is taken at prepare; a step allocates nothing after the first.
class cpu_executor final : public plan::executor {
 public:
  /// Without a lane the calling thread computes alone.
  explicit cpu_executor(const kernels::op_table& ops = kernels::best_ops(),
                        std::shared_ptr<threads::compute_lane> lane = nullptr);

  result<plan::program_ptr> prepare(const plan::plan& p, const plan::weight_table& weights, plan::page_memory& pages,
                                    const plan::program_options& options,
                                    const plan::prepare_watch& watch = {}) override;
  result<plan::ticket> submit(plan::program& on, std::span<const plan::batch_row> rows) override;
  result<plan::step_result> collect(plan::program& on, plan::ticket step, plan::row_sink& sink) override;
  void set_tap(plan::tap_fn tap) override { tap_ = std::move(tap); }

 private:
  const kernels::op_table& ops_;
  std::shared_ptr<threads::compute_lane> lane_;
  plan::tap_fn tap_;
};

/// Bytes of scratch that a program of this plan takes.
std::uint64_t scratch_bytes(const plan::plan& p, const plan::weight_table& weights,
                            const plan::program_options& options);
/// Bytes of weights that a program of this table keeps.
std::uint64_t weight_bytes(const plan::weight_table& weights, const kernels::op_table& ops);
/// Most bytes of the file that are in memory at once while a program of this table is prepared.
std::uint64_t load_bytes(const plan::weight_table& weights, const kernels::op_table& ops);

}  // namespace infer::decode
