// Positions and the pages they take.
// Mirrors: fault.cc
#include "engine/plan/sequence.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

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

/// Writes `value` into the page that holds `position`.
void write(memory::page_pool& pool, const sequence& s, std::uint32_t position, int value) {
  pool.data(s.pages()[position / 32])[position % 32] = static_cast<std::byte>(value);
}
int read(memory::page_pool& pool, const sequence& s, std::uint32_t position) {
  return static_cast<int>(pool.data(s.pages()[position / 32])[position % 32]);
}
void grow(memory::page_pool& pool, sequence& s, std::uint32_t more, int value) {
  ASSERT_TRUE(s.reserve(more));
  ASSERT_TRUE(s.has_room(more));
  for (std::uint32_t i = 0; i < more; ++i) write(pool, s, s.length() + i, value);
  s.commit(more);
}

TEST(sequence, a_fork_shares_pages_until_one_of_the_two_writes) {
  auto pool = memory::page_pool::make(8, 64).value();
  sequence a(pool, 256);
  grow(pool, a, 40, 1);
  auto b = a.fork(40).value();
  EXPECT_EQ(pool.free_pages(), 6u) << "nothing was copied yet";
  EXPECT_FALSE(a.has_room(1)) << "the page at the end is shared";
  grow(pool, b, 8, 2);
  EXPECT_EQ(pool.free_pages(), 5u) << "one page was copied";
  EXPECT_EQ(a.pages()[0], b.pages()[0]);
  EXPECT_NE(a.pages()[1], b.pages()[1]);
  EXPECT_EQ(read(pool, b, 39), 1) << "what was there came along";
  EXPECT_EQ(read(pool, b, 40), 2);
  grow(pool, a, 8, 3);
  EXPECT_EQ(pool.free_pages(), 5u) << "the other now has its page for itself";
  EXPECT_EQ(read(pool, b, 41), 2);
  EXPECT_EQ(read(pool, a, 41), 3);
}

TEST(sequence, a_page_outlives_the_sequence_that_a_fork_shares_it_with) {
  auto pool = memory::page_pool::make(4, 64).value();
  std::optional<sequence> b;
  {
    sequence a(pool, 128);
    grow(pool, a, 33, 7);
    b.emplace(a.fork(32).value());
  }
  EXPECT_EQ(pool.references(b->pages()[0]), 1u);
  EXPECT_EQ(pool.free_pages(), 3u);
  sequence c(pool, 128);
  grow(pool, c, 96, 9);
  for (std::uint32_t position = 0; position < 32; ++position) EXPECT_EQ(read(pool, *b, position), 7);
}

TEST(sequence, a_copy_that_finds_no_page_changes_nothing) {
  auto pool = memory::page_pool::make(2, 64).value();
  sequence a(pool, 128);
  grow(pool, a, 20, 1);
  auto b = a.fork(20).value();
  const auto other = pool.take();
  EXPECT_EQ(b.reserve(1).error().code, make_error_code(fault::no_pages));
  EXPECT_EQ(b.pages()[0], a.pages()[0]);
  EXPECT_EQ(pool.references(a.pages()[0]), 2u);
  pool.release(*other);
  EXPECT_TRUE(b.reserve(1));
}

TEST(sequence, room_ahead_is_taken_at_once_and_clamped_to_the_context) {
  auto pool = memory::page_pool::make(8, 64).value();
  sequence s(pool, 100);
  ASSERT_TRUE(s.reserve(1, 1000));
  EXPECT_EQ(s.pages().size(), 4u);
  EXPECT_TRUE(s.has_room(100));
  EXPECT_FALSE(s.has_room(101));
}

const state_group paged{}, windowed{.kind = state_kind::windowed, .window = 40},
    recurrent{.kind = state_kind::recurrent, .fixed_bytes = 16};

memory::page_pool pool_of(std::initializer_list<memory::group_pages> groups) {
  return memory::page_pool::make(std::span(groups.begin(), groups.size())).value();
}

void grow(sequence& s, std::uint32_t more) {
  for (; more > 0; --more) {
    ASSERT_TRUE(s.reserve(1));
    s.commit(1);
  }
}

TEST(sequence, a_window_gives_back_pages_wholly_behind_it_and_no_others) {
  auto pool = pool_of({{16, 64}, {16, 64}});
  const state_group groups[] = {paged, windowed};
  sequence s(pool, groups, 512);
  for (std::uint32_t length = 1; length <= 300; ++length) {
    grow(s, 1);
    // The next query sees positions from here on.
    const std::uint32_t seen = length + 1 > 40 ? length + 1 - 40 : 0;
    for (std::uint32_t page = 0; page < s.pages(1).size(); ++page)
      ASSERT_EQ(s.pages(1)[page] == no_page, (page + 1) * 32 <= seen) << "page " << page << " at length " << length;
    ASSERT_LE(16 - pool.free_pages(1), 3u);
  }
  EXPECT_EQ(16 - pool.free_pages(0), 10u);
}

TEST(sequence, a_window_says_what_can_be_restored_and_truncate_lands_there) {
  auto pool = pool_of({{16, 64}, {16, 64}});
  const state_group groups[] = {paged, windowed};
  sequence s(pool, groups, 512);
  grow(s, 300);
  // Pages from 256 on are held; with 40 positions seen the query at 295 is the first that they suffice for.
  EXPECT_EQ(s.restorable(1000), 300u);
  EXPECT_EQ(s.restorable(295), 295u);
  EXPECT_EQ(s.restorable(294), 0u);
  EXPECT_FALSE(s.fork(294));
  EXPECT_EQ(s.fork(294).error().code, make_error_code(fault::not_restorable));
  EXPECT_EQ(s.truncate(296), 296u);
  EXPECT_EQ(s.truncate(100), 0u);
  EXPECT_EQ(s.length(), 0u);
  EXPECT_EQ(pool.free_pages(0), 16u);
  EXPECT_EQ(pool.free_pages(1), 16u);
}

TEST(sequence, a_checkpoint_keeps_its_length_restorable) {
  auto pool = pool_of({{16, 64}, {16, 64}});
  const state_group groups[] = {paged, windowed};
  {
    sequence s(pool, groups, 512);
    grow(s, 100);
    s.checkpoint();
    grow(s, 200);
    EXPECT_EQ(s.restorable(250), 100u);
    EXPECT_EQ(s.restorable(99), 0u);
    auto other = s.fork(100).value();
    EXPECT_EQ(other.length(), 100u);
    EXPECT_EQ(s.truncate(250), 100u);
    EXPECT_EQ(s.pages(1).size(), 4u);
    EXPECT_NE(s.pages(1)[2], no_page);
    grow(s, 30);
    EXPECT_EQ(s.truncate(100), 100u) << "a checkpoint can be used more than once";
  }
  EXPECT_EQ(pool.free_pages(0), 16u);
  EXPECT_EQ(pool.free_pages(1), 16u);
}

TEST(sequence, forgets_the_oldest_checkpoints) {
  auto pool = pool_of({{64, 64}});
  sequence s(pool, {&windowed, 1}, 2048);
  for (int i = 0; i < 6; ++i) {
    grow(s, 100);
    s.checkpoint();
  }
  EXPECT_EQ(s.restorable(200), 0u);
  EXPECT_EQ(s.restorable(300), 300u);
}

TEST(sequence, a_dry_pool_of_one_group_leaves_the_others_as_they_were) {
  auto pool = pool_of({{16, 64}, {1, 64}});
  const state_group groups[] = {paged, paged};
  sequence s(pool, groups, 512);
  ASSERT_TRUE(s.reserve(10));
  s.commit(10);
  EXPECT_FALSE(s.reserve(40));
  EXPECT_EQ(s.pages(0).size(), 1u);
  EXPECT_EQ(pool.free_pages(0), 15u);
  EXPECT_TRUE(s.has_room(22));
}

TEST(sequence, recurrent_state_is_written_beside_what_is_committed) {
  auto pool = pool_of({{8, 64}, {8, 16}});
  const state_group groups[] = {paged, recurrent};
  sequence s(pool, groups, 512);
  const auto step = [&](int value) {
    EXPECT_TRUE(s.reserve(1));
    pool.data(s.shadow(1))[0] = static_cast<std::byte>(value);
    s.commit(1);
  };
  const auto state = [&](const sequence& of) { return static_cast<int>(pool.data(of.pages(1)[0])[0]); };
  for (int i = 1; i <= 5; ++i) step(i);
  ASSERT_TRUE(s.reserve(1));
  pool.data(s.shadow(1))[0] = std::byte{99};
  EXPECT_EQ(state(s), 5) << "a step that is not committed changes nothing";
  s.checkpoint();
  auto other = s.fork(5).value();
  for (int i = 6; i <= 8; ++i) step(i);
  EXPECT_EQ(state(other), 5);
  EXPECT_EQ(s.restorable(7), 5u);
  EXPECT_EQ(s.truncate(7), 5u);
  EXPECT_EQ(state(s), 5);
  EXPECT_EQ(s.truncate(4), 0u);
  EXPECT_TRUE(s.pages(1).empty());
}

TEST(sequence, attaches_to_pages_of_others) {
  auto pool = memory::page_pool::make(8, 64).value();
  sequence a(pool, 256);
  grow(pool, a, 70, 4);
  sequence b(pool, 256);
  const std::vector<page_index> table(a.pages().begin(), a.pages().begin() + 2);
  b.attach(64, {&table, 1});
  EXPECT_EQ(b.length(), 64u);
  EXPECT_EQ(pool.references(table[1]), 2u);
  grow(pool, b, 6, 5);
  EXPECT_EQ(read(pool, a, 64), 4);
}

TEST(plan_fault, every_fault_has_a_sentence) {
  for (const auto f : {fault::no_pages, fault::past_context, fault::bad_row, fault::unsupported, fault::numeric,
                       fault::not_restorable, fault::damaged, fault::foreign})
    EXPECT_GT(std::string(fault_sentence(f)).size(), 10u);
}

}  // namespace
}  // namespace infer::plan
