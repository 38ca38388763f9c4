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

TEST(page_pool, groups_have_pools_and_sizes_of_their_own) {
  constexpr group_pages groups[] = {{2, 64}, {1, 16}};
  auto pool = page_pool::make(groups).value();
  const auto a = *pool.take(0), b = *pool.take(0), c = *pool.take(1);
  EXPECT_FALSE(pool.take(1));
  EXPECT_EQ((std::set{a, b, c}.size()), 3u) << "an index is unique among all groups";
  EXPECT_EQ(pool.bytes(a).size(), 64u);
  EXPECT_EQ(pool.bytes(c).size(), 16u);
  pool.release(c);
  EXPECT_EQ(pool.free_pages(0), 0u);
  EXPECT_EQ(pool.free_pages(1), 1u);
}

TEST(page_pool, grows_up_to_its_capacity) {
  const group_pages group{2, 64, 5};
  auto pool = page_pool::make({&group, 1}).value();
  EXPECT_EQ(pool.pages(), 2u);
  const auto a = *pool.take(), b = *pool.take();
  std::memset(pool.data(a), 1, 64);
  EXPECT_FALSE(pool.take());
  EXPECT_EQ(pool.grow(0, 2), 2u);
  EXPECT_EQ(pool.grow(0, 2), 1u);
  EXPECT_EQ(pool.pages(), 5u);
  std::set<page_index> seen{a, b};
  while (const auto page = pool.take()) seen.insert(*page);
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(pool.data(a)[63], std::byte{1});
}

TEST(page_pool, holds_one_context_of_each_kind_of_group) {
  const plan::state_group groups[] = {
      {.kind = plan::state_kind::paged, .layers = 2, .kv_heads = 1, .head_dim = 8},
      {.kind = plan::state_kind::windowed, .layers = 1, .window = 64, .kv_heads = 1, .head_dim = 8},
      {.kind = plan::state_kind::latent, .layers = 1, .head_dim = 8},
      {.kind = plan::state_kind::recurrent, .fixed_bytes = 100}};
  const auto pool = page_pool::make(groups, plan::kv_type::bf16, plan::kv_type::f32, 1024, 32, 3).value();
  EXPECT_EQ(pool.pages(0), 32u);
  EXPECT_EQ(pool.capacity(0), 96u);
  EXPECT_EQ(pool.pages(1), 2u + 1u + 2u) << "the window, a step, and a page at either end";
  EXPECT_EQ(pool.pages(3), 2u);
  EXPECT_EQ(pool.page_bytes(0), 2u * 8 * 32 * (2 + 4));
  EXPECT_EQ(pool.page_bytes(2), 8u * 32 * 2);
  EXPECT_EQ(pool.page_bytes(3), 100u);
}

}  // namespace
}  // namespace infer::memory
