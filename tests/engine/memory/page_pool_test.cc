// Taking, sharing and giving back pages.
#include "engine/memory/page_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace infer::memory {
namespace {

TEST(page_pool, hands_out_every_page_once_and_then_none) {
  auto pool = page_pool::make(5, 256).value();
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 5; ++i) {
    const auto page = pool.take();
    ASSERT_TRUE(page);
    std::memset(pool.data(*page), i, 256);
    seen.insert(page->value);
  }
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_FALSE(pool.take());
  EXPECT_EQ(pool.free_pages(), 0u);
}

TEST(page_pool, a_shared_page_returns_with_its_last_reference) {
  auto pool = page_pool::make(1, 64).value();
  const auto page = pool.take();
  pool.share(*page);
  EXPECT_EQ(pool.references(*page), 2u);
  pool.release(*page);
  EXPECT_EQ(pool.free_pages(), 0u);
  pool.release(*page);
  EXPECT_EQ(pool.free_pages(), 1u);
}

TEST(page_pool, pages_do_not_overlap) {
  auto pool = page_pool::make(3, 128).value();
  const auto a = *pool.take(), b = *pool.take(), c = *pool.take();
  std::memset(pool.data(a), 1, 128);
  std::memset(pool.data(b), 2, 128);
  std::memset(pool.data(c), 3, 128);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(pool.data(b)[i], std::byte{2});
}

TEST(page_pool, moves_with_its_pages) {
  auto pool = page_pool::make(2, 64).value();
  const auto page = *pool.take();
  pool.data(page)[0] = std::byte{9};
  page_pool other = std::move(pool);
  EXPECT_EQ(other.data(page)[0], std::byte{9});
  EXPECT_EQ(other.free_pages(), 1u);
}

TEST(page_pool, a_size_that_no_system_grants_is_an_error) {
  for (const std::uint32_t pages : {1u << 20, 1u << 31}) {
    const auto pool = page_pool::make(pages, std::size_t{1} << 40);
    ASSERT_FALSE(pool) << pages;
    EXPECT_NE(pool.error().message().find("cannot reserve"), std::string::npos);
  }
}

}  // namespace
}  // namespace infer::memory
