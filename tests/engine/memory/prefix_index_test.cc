// Which prefixes are found, who may share them, and what goes when room is needed.
#include "engine/memory/prefix_index.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "engine/memory/page_pool.h"

namespace infer::memory {
namespace {

using plan::no_page;
using plan::state_group;
using plan::state_kind;

const state_group paged{}, windowed{.kind = state_kind::windowed, .window = 40};
const prefix_key key{};

std::vector<token_id> text(std::size_t count, token_id from = 0) {
  std::vector<token_id> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = from + static_cast<token_id>(i);
  return out;
}

/// Everything collides with everything.
hash_128 one_hash(const void*, std::size_t) {
  return {1, 1};
}

class prefixes : public testing::Test {
 protected:
  explicit prefixes(std::vector<state_group> groups = {paged}, hash_fn hash = hash_of) : groups_(std::move(groups)) {
    const std::vector<group_pages> sizes(groups_.size(), {16, 64});
    pool_ = page_pool::make(sizes).value();
    index_.emplace(pool_, groups_, hash);
  }
  plan::sequence grown(std::uint32_t length) {
    plan::sequence s(pool_, groups_, 512);
    for (; length > 0; --length) {
      EXPECT_TRUE(s.reserve(1));
      s.commit(1);
    }
    return s;
  }
  void keep(const std::vector<token_id>& ids, const prefix_key& as = key) {
    auto s = grown(static_cast<std::uint32_t>(ids.size()));
    index_->insert(as, ids, s);
  }
  std::vector<state_group> groups_;
  page_pool pool_;
  std::optional<prefix_index> index_;
};

TEST_F(prefixes, finds_the_longest_kept_run_of_whole_pages) {
  auto s = grown(100);
  index_->insert(key, text(100), s);
  EXPECT_EQ(index_->pages(0), 3u) << "the fourth page is not sealed";
  EXPECT_EQ(index_->find(key, text(200), 199).length, 96u);
  EXPECT_EQ(index_->find(key, text(96), 95).length, 64u) << "as far as it was asked for";
  EXPECT_EQ(index_->find(key, text(31), 31).length, 0u);
  auto other = text(200);
  other[40] = 7777;
  const auto hit = index_->find(key, other, 199);
  EXPECT_EQ(hit.length, 32u);
  ASSERT_EQ(hit.tables[0].size(), 1u);
  EXPECT_EQ(hit.tables[0][0], s.pages()[0]);
  EXPECT_EQ(index_->match(key, text(200), 199), 96u);
}

TEST_F(prefixes, counts_the_look_ups_that_were_taken) {
  keep(text(100));
  index_->find(key, text(100), 99);
  EXPECT_EQ(index_->counts().hits, 0u) << "looking alone does not count";
  index_->count(index_->find(key, text(100), 99));
  index_->count(index_->find(key, text(40), 39));
  index_->count(index_->find(key, text(100, 500), 99));
  EXPECT_EQ(index_->counts().hits, 2u);
  EXPECT_EQ(index_->counts().misses, 1u);
  EXPECT_EQ(index_->counts().hit_positions, 96u + 32);
}

TEST_F(prefixes, keeps_no_more_than_it_was_given_ids_for) {
  auto s = grown(100);
  index_->insert(key, text(70), s);
  EXPECT_EQ(index_->pages(0), 2u);
}

TEST_F(prefixes, the_same_run_behind_another_one_is_another) {
  keep(text(64));
  auto other = text(64);
  for (std::size_t i = 0; i < 32; ++i) other[i] = 900;
  EXPECT_EQ(index_->find(key, other, 64).length, 0u);
}

TEST_F(prefixes, every_field_of_the_key_keeps_apart) {
  keep(text(64));
  for (const prefix_key& other : {prefix_key{.adapter = 1}, prefix_key{.rope_variant = 1}, prefix_key{.salt = 1},
                                  prefix_key{.keys = plan::kv_type::bf16}, prefix_key{.values = plan::kv_type::f32},
                                  prefix_key{.numerics_version = 99}})
    EXPECT_EQ(index_->match(other, text(64), 64), 0u);
  EXPECT_EQ(index_->match(key, text(64), 64), 64u);
}

TEST_F(prefixes, pages_outlive_their_sequence_and_go_with_the_index) {
  keep(text(64));
  EXPECT_EQ(pool_.free_pages(), 14u);
  plan::sequence s(pool_, groups_, 512);
  const auto hit = index_->find(key, text(64), 64);
  s.attach(hit.length, hit.tables);
  EXPECT_EQ(pool_.references(s.pages()[0]), 2u);
  index_.reset();
  EXPECT_EQ(pool_.free_pages(), 14u);
  EXPECT_EQ(pool_.references(s.pages()[1]), 1u);
}

TEST_F(prefixes, what_two_have_computed_is_kept_once) {
  auto a = grown(64), b = grown(96);
  index_->insert(key, text(64), a);
  const auto own = b.pages()[0];
  index_->insert(key, text(96), b);
  EXPECT_NE(b.pages()[0], own);
  EXPECT_EQ(b.pages()[1], a.pages()[1]);
  EXPECT_EQ(index_->pages(0), 3u);
  EXPECT_EQ(pool_.free_pages(), 13u);
}

TEST_F(prefixes, evicts_what_was_used_longest_ago_and_nobody_holds_the_end_of_a_text_first) {
  keep(text(96, 0));
  keep(text(64, 1000));
  auto held = grown(64);
  index_->insert(key, text(64, 2000), held);
  index_->find(key, text(96, 0), 96);
  EXPECT_EQ(index_->evictable(0), 5u);
  const auto lengths = [&] {
    return std::vector{index_->match(key, text(96, 0), 96), index_->match(key, text(64, 1000), 64),
                       index_->match(key, text(64, 2000), 64)};
  };
  EXPECT_TRUE(index_->evict(0));
  EXPECT_EQ(lengths(), (std::vector{96u, 32u, 64u}));
  EXPECT_TRUE(index_->evict(0));
  EXPECT_EQ(lengths(), (std::vector{96u, 0u, 64u}));
  EXPECT_TRUE(index_->evict(0));
  EXPECT_EQ(lengths(), (std::vector{64u, 0u, 64u}));
  EXPECT_TRUE(index_->evict(0));
  EXPECT_TRUE(index_->evict(0));
  EXPECT_FALSE(index_->evict(0)) << "what a sequence holds stays";
  EXPECT_EQ(lengths(), (std::vector{0u, 0u, 64u}));
  EXPECT_EQ(pool_.free_pages(), 14u);
  EXPECT_EQ(index_->counts().evicted_pages, 5u);
}

class windowed_prefixes : public prefixes {
 protected:
  windowed_prefixes() : prefixes({paged, windowed}) {}
};

TEST_F(windowed_prefixes, a_hit_counts_only_where_every_group_can_go_on) {
  auto s = grown(192);
  index_->insert(key, text(192), s);
  EXPECT_EQ(index_->match(key, text(200), 200), 192u) << "153 and later are seen from 192 on: pages 4 and 5";
  EXPECT_EQ(index_->match(key, text(200), 191), 0u);
  const auto hit = index_->find(key, text(200), 200);
  EXPECT_NE(hit.tables[0][0], no_page);
  EXPECT_EQ(hit.tables[1][3], no_page);
  EXPECT_NE(hit.tables[1][4], no_page);
  plan::sequence t(pool_, groups_, 512);
  t.attach(hit.length, hit.tables);
  EXPECT_EQ(t.restorable(192), 192u);
  EXPECT_EQ(t.restorable(166), 0u);
}

TEST_F(windowed_prefixes, a_window_loses_its_pages_without_the_rest_of_the_run) {
  {
    auto s = grown(192);
    index_->insert(key, text(192), s);
  }
  EXPECT_EQ(index_->pages(1), index_->evictable(1));
  while (index_->evict(1)) {
  }
  EXPECT_EQ(index_->pages(1), 0u);
  EXPECT_EQ(index_->pages(0), 6u);
  EXPECT_EQ(index_->match(key, text(200), 200), 0u);
  auto again = grown(192);
  index_->insert(key, text(192), again);
  EXPECT_EQ(index_->match(key, text(200), 200), 192u) << "what is missing is filled in";
}

class recurrent_prefixes : public prefixes {
 protected:
  recurrent_prefixes() : prefixes({paged, {.kind = state_kind::recurrent, .fixed_bytes = 64}}) {}
};

TEST_F(recurrent_prefixes, state_that_was_rewritten_is_never_a_hit) {
  keep(text(64));
  EXPECT_EQ(index_->find(key, text(64), 64).length, 0u);
}

class colliding_prefixes : public prefixes {
 protected:
  colliding_prefixes() : prefixes({paged}, one_hash) {}
};

TEST_F(colliding_prefixes, a_collision_is_a_miss_and_never_a_wrong_page) {
  keep(text(96));
  EXPECT_EQ(index_->pages(0), 1u) << "the second run has the hash of the first";
  EXPECT_EQ(index_->match(key, text(96), 96), 32u);
  EXPECT_EQ(index_->match(key, text(96, 500), 96), 0u);
  keep(text(96, 500));
  EXPECT_EQ(index_->match(key, text(96, 500), 96), 0u);
  EXPECT_EQ(index_->match({.salt = 4}, text(96), 96), 0u);
  EXPECT_EQ(pool_.free_pages(), 15u);
}

}  // namespace
}  // namespace infer::memory
