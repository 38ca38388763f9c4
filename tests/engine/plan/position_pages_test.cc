// Page tables by themselves: what is needed, copied, given back.
#include "engine/plan/position_pages.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/memory/page_pool.h"

namespace infer::plan {
namespace {

std::vector<page_index> take(memory::page_pool& pool, std::uint32_t count) {
  std::vector<page_index> out;
  for (; count > 0; --count) out.push_back(pool.take().value());
  return out;
}

TEST(position_pages, asks_for_what_the_next_positions_need) {
  auto pool = memory::page_pool::make(8, 64).value();
  position_pages pages(pool, 0, 0);
  EXPECT_EQ(pages.fresh_needed(0, 0), 0u);
  EXPECT_EQ(pages.fresh_needed(0, 1), 1u);
  EXPECT_EQ(pages.fresh_needed(0, 33), 2u);
  pages.extend(0, take(pool, 2));
  EXPECT_EQ(pages.fresh_needed(33, 31), 0u);
  EXPECT_EQ(pages.fresh_needed(33, 32), 1u);
}

TEST(position_pages, asks_for_a_copy_only_where_the_page_it_writes_into_is_shared) {
  auto pool = memory::page_pool::make(8, 64).value();
  position_pages pages(pool, 0, 0);
  pages.extend(0, take(pool, 2));
  const auto other = pages.fork(40);
  EXPECT_EQ(pages.fresh_needed(40, 1), 1u);
  EXPECT_EQ(pages.fresh_needed(64, 1), 1u) << "behind a whole page only the next one is missing";
  pages.extend(40, take(pool, 1));
  EXPECT_EQ(pages.fresh_needed(40, 1), 0u);
  EXPECT_EQ(other.fresh_needed(40, 1), 0u);
}

TEST(position_pages, the_first_page_seen_follows_the_window_to_the_position) {
  EXPECT_EQ(first_page_seen(1000, 0), 0u);
  EXPECT_EQ(first_page_seen(10, 64), 0u);
  EXPECT_EQ(first_page_seen(94, 64), 0u) << "the query at 94 sees 31 as its last";
  EXPECT_EQ(first_page_seen(95, 64), 1u);
}

TEST(position_pages, replaces_a_page_by_an_equal_one) {
  auto pool = memory::page_pool::make(4, 64).value();
  position_pages a(pool, 0, 0), b(pool, 0, 0);
  a.extend(0, take(pool, 1));
  b.extend(0, take(pool, 1));
  b.replace(0, a.table()[0]);
  b.replace(0, a.table()[0]);
  EXPECT_EQ(pool.free_pages(), 3u);
  EXPECT_EQ(pool.references(a.table()[0]), 2u);
}

}  // namespace
}  // namespace infer::plan
