// Turns are taken one at a time, in order of arrival.
#include "engine/threads/compute_lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace infer::threads {
namespace {

TEST(compute_lane, holds_one_at_a_time) {
  compute_lane lane;
  int inside = 0, turns = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const compute_lane::turn turn(lane);
        EXPECT_EQ(++inside, 1);
        ++turns;
        --inside;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(turns, 8000);
}

TEST(compute_lane, serves_in_order_of_arrival) {
  compute_lane lane;
  std::vector<int> order;
  std::vector<std::thread> threads;
  {
    const compute_lane::turn first(lane);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const compute_lane::turn turn(lane);
        order.push_back(t);
      });
      while (lane.waiting() != static_cast<std::uint64_t>(t + 1)) std::this_thread::yield();
    }
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace infer::threads
