// Every task once, whatever the number of threads and of tasks.
#include "engine/threads/compute_pool.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace infer::threads {
namespace {

TEST(compute_pool, runs_every_task_once) {
  for (const std::uint32_t threads : {1u, 2u, 3u, 5u}) {
    compute_pool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::uint32_t count : {0u, 1u, 2u, 3u, 7u, 64u, 1000u}) {
      std::vector<std::uint32_t> calls(count, 0);
      pool.run(count, [&](std::uint32_t i) { ++calls[i]; });
      for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(calls[i], 1u) << i << " of " << count;
    }
  }
}

TEST(compute_pool, what_tasks_wrote_is_seen_by_the_next_job) {
  compute_pool pool(3);
  std::vector<std::uint64_t> values(257, 1);
  for (int round = 0; round < 2000; ++round) {
    pool.run(257, [&](std::uint32_t i) { ++values[i]; });
  }
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::uint64_t{0}), 257u * 2001u);
}

TEST(compute_pool, a_sleeping_worker_wakes_for_a_job) {
  compute_pool pool(2);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // far longer than workers spin
    std::atomic<std::uint32_t> here{0};
    // Two tasks that each wait for the other can only end on two threads.
    pool.run(2, [&](std::uint32_t) {
      ++here;
      while (here.load() < 2) std::this_thread::yield();
    });
    EXPECT_EQ(here.load(), 2u);
  }
}

TEST(compute_pool, knows_the_cores_it_may_use) {
  EXPECT_GE(usable_cores(), 1u);
}

}  // namespace
}  // namespace infer::threads
