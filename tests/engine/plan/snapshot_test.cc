// Sequences as bytes: what comes back, and that damage never does.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "engine/memory/page_pool.h"
#include "engine/plan/sequence.h"

namespace infer::plan {
namespace {

const state_group groups[] = {{.kind = state_kind::paged},
                              {.kind = state_kind::windowed, .window = 40},
                              {.kind = state_kind::latent},
                              {.kind = state_kind::recurrent, .fixed_bytes = 16}};
constexpr memory::group_pages sizes[] = {{16, 64}, {16, 32}, {16, 48}, {4, 16}};

class snapshot : public testing::Test {
 protected:
  /// Pages with bytes of their own.
  sequence grown(std::uint32_t length) {
    sequence s(pool_, groups, 256);
    for (; length > 0; --length) {
      EXPECT_TRUE(s.reserve(1));
      std::memset(pool_.data(s.shadow(3)), static_cast<int>(length), 16);
      s.commit(1);
    }
    int value = 1;
    for (std::uint32_t group = 0; group < 3; ++group) {
      for (const page_index page : s.pages(group)) {
        if (page != no_page) std::ranges::fill(pool_.bytes(page), static_cast<std::byte>(value++));
      }
    }
    return s;
  }
  void expect_all_free() {
    for (std::uint32_t group = 0; group < 4; ++group) EXPECT_EQ(pool_.free_pages(group), sizes[group].pages);
  }
  result<sequence> restore(byte_view bytes, std::uint64_t fingerprint = 5, std::uint32_t context = 256) {
    return sequence::restore(pool_, groups, context, fingerprint, bytes);
  }
  memory::page_pool pool_ = memory::page_pool::make(sizes).value();
};

TEST_F(snapshot, brings_every_held_page_of_every_group_back) {
  for (const std::uint32_t length : {0u, 1u, 31u, 32u, 100u, 200u}) {
    const auto s = grown(length);
    const auto bytes = s.snapshot(5);
    const auto back = restore(bytes);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back.value().length(), length);
    for (std::uint32_t group = 0; group < 4; ++group) {
      const auto was = s.pages(group), is = back.value().pages(group);
      ASSERT_EQ(is.size(), was.size());
      for (std::size_t page = 0; page < was.size(); ++page) {
        ASSERT_EQ(is[page] == no_page, was[page] == no_page);
        if (was[page] == no_page) continue;
        EXPECT_NE(is[page], was[page]);
        EXPECT_TRUE(std::ranges::equal(pool_.bytes(is[page]), pool_.bytes(was[page])));
      }
    }
    EXPECT_EQ(back.value().restorable(length), s.restorable(length));
    EXPECT_EQ(back.value().snapshot(5), bytes);
  }
  expect_all_free();
}

TEST_F(snapshot, leaves_room_that_was_only_reserved_out) {
  auto s = grown(10);
  const auto bytes = s.snapshot(5);
  ASSERT_TRUE(s.reserve(1, 200));
  EXPECT_EQ(s.snapshot(5), bytes);
}

TEST_F(snapshot, every_damaged_byte_and_every_missing_one_is_an_error) {
  const auto bytes = grown(50).snapshot(5);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{1};
    const auto back = restore(damaged);
    ASSERT_FALSE(back) << at;
    EXPECT_EQ(back.error().code, make_error_code(fault::damaged)) << at;
    ASSERT_FALSE(restore(std::span(bytes).first(at))) << at;
  }
  auto longer = bytes;
  longer.push_back({});
  EXPECT_FALSE(restore(longer));
  expect_all_free();
}

TEST_F(snapshot, belongs_to_one_model_type_and_set_of_groups) {
  const auto bytes = grown(50).snapshot(5);
  EXPECT_EQ(restore(bytes, 6).error().code, make_error_code(fault::foreign));
  EXPECT_EQ(restore(bytes, 5, 49).error().code, make_error_code(fault::past_context));
  EXPECT_EQ(sequence::restore(pool_, std::span(groups).first(3), 256, 5, bytes).error().code,
            make_error_code(fault::foreign));
  constexpr memory::group_pages other[] = {{16, 64}, {16, 32}, {16, 40}, {4, 16}};
  auto pool = memory::page_pool::make(other).value();
  EXPECT_EQ(sequence::restore(pool, groups, 256, 5, bytes).error().code, make_error_code(fault::foreign));
  for (std::uint32_t group = 0; group < 4; ++group) EXPECT_EQ(pool.free_pages(group), other[group].pages);
}

TEST_F(snapshot, a_dry_pool_is_an_error_that_takes_nothing) {
  const auto bytes = grown(200).snapshot(5);
  constexpr memory::group_pages few[] = {{16, 64}, {16, 32}, {3, 48}, {4, 16}};
  auto pool = memory::page_pool::make(few).value();
  EXPECT_EQ(sequence::restore(pool, groups, 256, 5, bytes).error().code, make_error_code(fault::no_pages));
  for (std::uint32_t group = 0; group < 4; ++group) EXPECT_EQ(pool.free_pages(group), few[group].pages);
}

}  // namespace
}  // namespace infer::plan
