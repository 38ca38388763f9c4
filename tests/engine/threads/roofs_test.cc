// Roofs are rates of work that was done.
#include "engine/threads/roofs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

namespace infer::threads {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(ReadRoof, IsARateOverTheTimeThatWasAskedFor) {
  for (const std::uint32_t threads : {1u, 2u}) {
    read_roof roof(threads, 4 << 20);
    double rate = 0;
    EXPECT_GE(seconds_of([&] { rate = roof.measure(0.02); }), 0.02);
    // Between what a tape gives and what no memory gives.
    EXPECT_GT(rate, 1e7);
    EXPECT_LT(rate, 1e14);
  }
}

std::atomic<std::uint64_t> turns_run{0};

TEST(PeakRate, CountsTheOperationsOfEveryThread) {
  const peak_loop counted{"counted", "GOP/s", 10, [](std::uint64_t turns) { turns_run += turns; }};
  turns_run = 0;
  double rate = 0;
  const double seconds = seconds_of([&] { rate = measure_peak(counted, 2, 0.01); });
  EXPECT_GE(rate * seconds, 10 * static_cast<double>(turns_run.load())) << "no operation was left out";
  EXPECT_GT(turns_run.load(), 0u);
}

TEST(PeakLoops, AreThoseOfThisCpu) {
  for (const peak_loop& loop : peak_loops()) {
    EXPECT_FALSE(loop.name.empty());
    EXPECT_GT(measure_peak(loop, 1, 0.001), 1e6) << loop.name;
  }
#if defined(__x86_64__)
  EXPECT_EQ(peak_loops().empty(), !__builtin_cpu_supports("avx2") && !__builtin_cpu_supports("fma"));
#endif
}

}  // namespace
}  // namespace infer::threads
