// The threads that compute: one pool per process, used by whoever holds the compute lane.
//
//   run ──► job opens ──► every thread takes tasks of its own share, then of the others' ──► all done ──► run returns
//
// Hazards: a task never waits for anything; a job must not be started from inside a task.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace infer::threads {

/// Threads this process may keep busy: what its affinity mask and its control group allow.
std::uint32_t usable_cores();

/// Sets what the numeric contract takes for granted on the calling thread: rounding to nearest, subnormals kept.
void set_float_environment();

/// The caller of `run` is worker 0; the others spin for at most 50 µs after a job and sleep then. A worker that the
/// system keeps from running takes no task, and the others take its share. Threads: `run` by one thread at a time.
/// Memory: `run` allocates nothing.
class compute_pool {
 public:
  /// `threads` ≥ 1, the caller counted.
  explicit compute_pool(std::uint32_t threads);
  ~compute_pool();
  compute_pool(const compute_pool&) = delete;
  compute_pool& operator=(const compute_pool&) = delete;

  std::uint32_t threads() const { return static_cast<std::uint32_t>(shares_.size()); }

  /// Calls task(i) once for every i in [0, count), on any thread, and returns when all have returned. Neighbouring i
  /// tend to run one after the other on one thread. A task that throws ends the process.
  template <class Task>
  void run(std::uint32_t count, const Task& task) {
    run_erased(count, [](const void* t, std::uint32_t i) noexcept { (*static_cast<const Task*>(t))(i); }, &task);
  }

 private:
  using task_fn = void (*)(const void*, std::uint32_t) noexcept;
  struct alignas(64) share {
    std::atomic<std::uint32_t> next{0};
    std::uint32_t end = 0;
  };

  void run_erased(std::uint32_t count, task_fn fn, const void* task);
  void take_tasks(std::uint32_t worker);
  void work(std::uint32_t worker);

  task_fn fn_ = nullptr;
  const void* task_ = nullptr;
  std::vector<share> shares_;                         // one per thread
  alignas(64) std::atomic<std::uint32_t> job_{0};     // odd while a job is open
  alignas(64) std::atomic<std::uint32_t> inside_{0};  // workers that may touch the job
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

}  // namespace infer::threads
