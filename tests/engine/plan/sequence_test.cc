// Positions and the pages they take.
// Mirrors: fault.cc
#include "engine/plan/sequence.h"

#include <gtest/gtest.h>

#include "engine/memory/page_pool.h"
#include "engine/plan/fault.h"

namespace infer::plan {
namespace {

TEST(sequence, takes_pages_as_it_grows_and_gives_them_back) {
  auto pool = memory::page_pool::make(4, 64).value();
  {
    sequence s(pool, 128);
    EXPECT_TRUE(s.reserve(1));
    EXPECT_EQ(s.pages().size(), 1u);
    s.commit(1);
    EXPECT_TRUE(s.reserve(31));
    EXPECT_EQ(s.pages().size(), 1u);
    s.commit(31);
    EXPECT_TRUE(s.reserve(1));
    EXPECT_EQ(s.pages().size(), 2u);
    EXPECT_EQ(s.length(), 32u);
  }
  EXPECT_EQ(pool.free_pages(), 4u);
}

TEST(sequence, a_dry_pool_changes_nothing) {
  auto pool = memory::page_pool::make(2, 64).value();
  sequence s(pool, 1024);
  ASSERT_TRUE(s.reserve(10));
  const auto r = s.reserve(100);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, make_error_code(fault::no_pages));
  EXPECT_EQ(s.pages().size(), 1u);
  EXPECT_EQ(pool.free_pages(), 1u);
}

TEST(sequence, refuses_to_grow_past_its_context_with_the_numbers) {
  auto pool = memory::page_pool::make(4, 64).value();
  sequence s(pool, 40);
  ASSERT_TRUE(s.reserve(40));
  s.commit(40);
  const auto r = s.reserve(1);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, make_error_code(fault::past_context));
  EXPECT_NE(r.error().message().find("40"), std::string::npos);
}

TEST(sequence, truncate_gives_back_the_pages_behind_the_cut) {
  auto pool = memory::page_pool::make(4, 64).value();
  sequence s(pool, 128);
  ASSERT_TRUE(s.reserve(100));
  s.commit(100);
  EXPECT_EQ(s.truncate(33), 33u);
  EXPECT_EQ(s.pages().size(), 2u);
  EXPECT_EQ(s.truncate(500), 33u) << "never grows";
  EXPECT_EQ(s.truncate(0), 0u);
  EXPECT_EQ(pool.free_pages(), 4u);
}

TEST(sequence, moves_without_losing_pages) {
  auto pool = memory::page_pool::make(4, 64).value();
  sequence a(pool, 128);
  ASSERT_TRUE(a.reserve(64));
  sequence b = std::move(a);
  EXPECT_EQ(b.pages().size(), 2u);
  sequence c(pool, 128);
  c = std::move(b);
  EXPECT_EQ(pool.free_pages(), 2u);
}

TEST(plan_fault, every_fault_has_a_sentence) {
  for (const auto f : {fault::no_pages, fault::past_context, fault::bad_row, fault::unsupported, fault::numeric})
    EXPECT_GT(std::string(fault_sentence(f)).size(), 10u);
}

}  // namespace
}  // namespace infer::plan
