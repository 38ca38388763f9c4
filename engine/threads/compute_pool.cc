// Opening, sharing and closing a job.
#include "engine/threads/compute_pool.h"

#include <sched.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <fstream>
#include <optional>

namespace infer::threads {
namespace {

constexpr std::chrono::microseconds longest_spin{50};
constexpr std::uint32_t spins_before_yielding = 1024;
constexpr std::uint32_t spins_between_looks_at_the_clock = 64;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

namespace {

/// Processors that the control group may keep busy, rounded up; none where it has no limit.
std::optional<std::uint32_t> quota_cores() {
  long long quota = -1, period = 0;
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2 >> quota >> period) {
  } else {
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota;
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<std::uint32_t>(std::max(1LL, (quota + period - 1) / period));
}

}  // namespace

std::uint32_t usable_cores() {
  cpu_set_t set;
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  const std::uint32_t cores =
      known ? static_cast<std::uint32_t>(CPU_COUNT(&set)) : std::max(1u, std::thread::hardware_concurrency());
  return std::min(cores, quota_cores().value_or(cores));
}

void set_float_environment() {
  std::fesetround(FE_TONEAREST);
#if defined(__SSE__)
  _mm_setcsr(_mm_getcsr() & ~0x8040u);  // flush-to-zero and denormals-are-zero off
#endif
}

compute_pool::compute_pool(std::uint32_t threads) : shares_(std::max(1u, threads)) {
  for (std::uint32_t worker = 1; worker < this->threads(); ++worker)
    workers_.emplace_back([this, worker] { work(worker); });
}

compute_pool::~compute_pool() {
  stop_ = true;
  job_ += 2;  // wakes sleepers without opening a job
  job_.notify_all();
  for (std::thread& t : workers_) t.join();
}

void compute_pool::take_tasks(std::uint32_t worker) {
  for (std::uint32_t i = 0; i < threads(); ++i) {
    share& from = shares_[(worker + i) % threads()];
    for (;;) {
      // Looked at first, so that counters of finished shares do not run away.
      if (from.next.load(std::memory_order_relaxed) >= from.end) break;
      const std::uint32_t task = from.next.fetch_add(1, std::memory_order_relaxed);
      if (task >= from.end) break;
      fn_(task_, task);
    }
  }
}

void compute_pool::run_erased(std::uint32_t count, task_fn fn, const void* task) {
  if (count <= 1 || threads() == 1) {
    for (std::uint32_t i = 0; i < count; ++i) fn(task, i);
    return;
  }
  fn_ = fn;
  task_ = task;
  const std::uint64_t n = threads();
  for (std::uint32_t s = 0; s < n; ++s) {
    shares_[s].next.store(static_cast<std::uint32_t>(s * count / n), std::memory_order_relaxed);
    shares_[s].end = static_cast<std::uint32_t>((s + 1) * count / n);
  }
  job_.fetch_add(1);
  job_.notify_all();
  take_tasks(0);
  // Closed first, then counted: a worker that comes too late sees the one or is seen by the other.
  job_.fetch_add(1);
  for (std::uint32_t spins = 1; inside_.load() != 0; ++spins) {
    // Who is still inside has lost its core: it may need this one.
    if (spins % spins_before_yielding == 0) std::this_thread::yield();
    pause();
  }
}

void compute_pool::work(std::uint32_t worker) {
  set_float_environment();
  std::uint32_t seen = 0;
  for (;;) {
    auto spin_until = std::chrono::steady_clock::now() + longest_spin;
    std::uint32_t job = job_.load(std::memory_order_acquire);
    for (std::uint32_t spins = 1; job == seen || job % 2 == 0; ++spins) {
      if (stop_.load(std::memory_order_relaxed)) return;
      if (spins % spins_between_looks_at_the_clock == 0 && std::chrono::steady_clock::now() > spin_until) {
        job_.wait(job, std::memory_order_acquire);
        spin_until = std::chrono::steady_clock::now() + longest_spin;
      } else {
        pause();
      }
      job = job_.load(std::memory_order_acquire);
    }
    inside_.fetch_add(1);
    if (job_.load() == job) take_tasks(worker);
    inside_.fetch_sub(1);
    seen = job;
  }
}

}  // namespace infer::threads
