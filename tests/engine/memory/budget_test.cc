// The account of memory, and that it is never over under threads.
#include "engine/memory/budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace infer::memory {
namespace {

TEST(budget, grants_what_is_free_and_takes_it_back) {
  auto b = budget::make(100);
  {
    const auto lease = b->try_take(memory_kind::kv, 60);
    ASSERT_TRUE(lease);
    EXPECT_FALSE(b->try_take(memory_kind::kv, 41));
    EXPECT_EQ(b->numbers().taken[static_cast<std::size_t>(memory_kind::kv)], 60u);
  }
  EXPECT_EQ(b->numbers().free, 100u);
}

TEST(budget, a_moved_lease_is_given_back_once) {
  auto b = budget::make(100);
  auto lease = b->try_take(memory_kind::weights, 10);
  memory_lease moved = std::move(*lease);
  lease.reset();
  EXPECT_EQ(b->numbers().free, 90u);
  moved = memory_lease{};
  EXPECT_EQ(b->numbers().free, 100u);
}

TEST(budget, a_lease_keeps_its_budget) {
  auto b = budget::make(10);
  auto lease = b->try_take(memory_kind::kv, 5);
  b.reset();
  lease.reset();
}

TEST(budget, an_earmark_is_not_free_and_only_its_claim_takes_it) {
  auto b = budget::make(100);
  EXPECT_TRUE(b->earmark(1, 80));
  EXPECT_FALSE(b->earmark(2, 30));
  EXPECT_FALSE(b->try_take(memory_kind::kv, 30));
  EXPECT_FALSE(b->take_earmarked(2, memory_kind::kv, 1));
  const auto lease = b->take_earmarked(1, memory_kind::kv, 50);
  ASSERT_TRUE(lease);
  EXPECT_FALSE(b->take_earmarked(1, memory_kind::kv, 31));
  EXPECT_EQ(b->drop_earmark(1), 30u);
  EXPECT_EQ(b->numbers().free, 50u);
  EXPECT_EQ(b->numbers().earmarked, 0u);
}

TEST(budget, what_claims_wait_for_is_not_spare) {
  const auto b = budget::make(1000);
  b->set_awaited(700);
  EXPECT_EQ(b->numbers().spare(), 300u);
  EXPECT_FALSE(b->try_take_spare(memory_kind::kv, 301));
  const auto spare = b->try_take_spare(memory_kind::kv, 300);
  EXPECT_TRUE(spare);
  EXPECT_TRUE(b->try_take(memory_kind::weights, 700)) << "those that are waited for, by who may have them";
  EXPECT_EQ(b->numbers().spare(), 0u);
}

TEST(budget, tells_its_listener_of_every_freed_byte) {
  auto b = budget::make(100);
  std::uint64_t freed = 0;
  b->on_freed([&](std::uint64_t bytes) { freed += bytes; });
  {
    const auto lease = b->try_take(memory_kind::kv, 7);
  }
  b->earmark(1, 5);
  b->drop_earmark(1);
  EXPECT_EQ(freed, 12u);
}

TEST(budget, is_never_over_under_threads) {
  auto b = budget::make(1000);
  std::atomic<std::uint64_t> in_use{0}, worst{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) {
        const std::uint64_t bytes = 100 + static_cast<std::uint64_t>((i * 7 + t) % 300);
        if (const auto lease = b->try_take(memory_kind::scratch, bytes)) {
          const auto now = in_use += bytes;
          for (auto seen = worst.load(); now > seen && !worst.compare_exchange_weak(seen, now);) {
          }
          in_use -= bytes;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(worst.load(), 1000u);
  EXPECT_EQ(b->numbers().free, 1000u);
}

TEST(budget, kinds_have_names) {
  EXPECT_EQ(name_of(memory_kind::kv), "kv");
}

}  // namespace
}  // namespace infer::memory
