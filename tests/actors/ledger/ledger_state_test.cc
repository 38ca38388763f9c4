// Claims in line.
#include "actors/ledger/ledger_state.h"

#include <gtest/gtest.h>

namespace infer::actors {
namespace {

TEST(claim_line, grants_what_is_free_and_refuses_what_never_fits) {
  auto budget = memory::budget::make(100);
  claim_line line(budget);
  EXPECT_EQ(line.claim(1, 60).answer, claim_answer::granted);
  const auto never = line.claim(2, 101);
  EXPECT_EQ(never.answer, claim_answer::refused);
  EXPECT_EQ(budget->numbers().earmarked, 60u);
}

TEST(claim_line, says_how_many_mebibytes_would_do) {
  constexpr std::uint64_t mebibyte = 1 << 20;
  claim_line line(memory::budget::make(100 * mebibyte + 5));
  EXPECT_EQ(line.claim(1, 110 * mebibyte + 1).message, "it needs 111 MiB of memory, but the budget is 100 MiB");
  EXPECT_EQ(line.claim(1, 110 * mebibyte).message, "it needs 110 MiB of memory, but the budget is 100 MiB");
}

TEST(claim_line, a_waiter_holds_nothing_and_nobody_passes_it) {
  auto budget = memory::budget::make(100);
  claim_line line(budget);
  line.claim(1, 60);
  const auto waits = line.claim(2, 70);
  EXPECT_EQ(waits.answer, claim_answer::waiting);
  EXPECT_EQ(waits.missing, 30u);
  EXPECT_EQ(line.claim(3, 10).answer, claim_answer::waiting) << "behind the first in line";
  EXPECT_EQ(budget->numbers().earmarked, 60u);
  EXPECT_TRUE(line.advance().empty());
  line.cancel(1);
  EXPECT_EQ(line.advance(), (std::vector<std::uint64_t>{2, 3}));
}

TEST(claim_line, what_a_loader_took_stays_when_the_earmark_expires) {
  auto budget = memory::budget::make(100);
  claim_line line(budget);
  line.claim(1, 60);
  auto lease = budget->take_earmarked(1, memory::memory_kind::weights, 25);
  ASSERT_TRUE(lease);
  EXPECT_EQ(line.expire(1), 35u);
  EXPECT_EQ(line.expire(1), 0u);
  EXPECT_EQ(budget->numbers().free, 75u);
  lease.reset();
  EXPECT_EQ(budget->numbers().free, 100u);
}

TEST(claim_line, what_it_waits_for_is_left_alone_until_it_is_served_or_gone) {
  auto budget = memory::budget::make(100);
  claim_line line(budget);
  auto held = budget->try_take(memory::memory_kind::kv, 60);
  EXPECT_EQ(line.claim(1, 70).answer, claim_answer::waiting);
  EXPECT_EQ(line.claim(2, 10).answer, claim_answer::waiting);
  EXPECT_FALSE(budget->try_take_spare(memory::memory_kind::kv, 1)) << "40 are free and 80 are waited for";
  line.cancel(1);
  EXPECT_TRUE(budget->try_take_spare(memory::memory_kind::kv, 30));
  held.reset();
  EXPECT_EQ(line.advance(), std::vector<std::uint64_t>{2});
  EXPECT_EQ(budget->numbers().awaited, 0u);
}

TEST(claim_line, a_cancelled_waiter_lets_the_next_one_go) {
  auto budget = memory::budget::make(100);
  claim_line line(budget);
  line.claim(1, 90);
  line.claim(2, 50);
  line.claim(3, 10);
  line.cancel(2);
  EXPECT_EQ(line.advance(), std::vector<std::uint64_t>{3});
  EXPECT_EQ(line.waiting(), 0u);
}

}  // namespace
}  // namespace infer::actors
