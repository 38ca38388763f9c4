// State of fixed size: shadow, commit, fork.
#include "engine/plan/recurrent_state.h"

#include <gtest/gtest.h>

#include "engine/memory/page_pool.h"

namespace infer::plan {
namespace {

void step(memory::page_pool& pool, recurrent_state& state, int value) {
  if (state.fresh_needed() > 0) {
    const page_index fresh = pool.take().value();
    state.extend({&fresh, 1});
  }
  pool.data(state.shadow())[0] = static_cast<std::byte>(value);
  state.commit();
}

TEST(recurrent_state, commit_makes_the_shadow_current_and_gives_the_old_one_back) {
  auto pool = memory::page_pool::make(2, 16).value();
  recurrent_state state(pool, 0);
  EXPECT_TRUE(state.table().empty());
  state.commit();
  EXPECT_TRUE(state.table().empty()) << "nothing was written";
  for (int i = 1; i < 10; ++i) {
    step(pool, state, i);
    EXPECT_EQ(pool.data(state.table()[0])[0], std::byte(i));
    EXPECT_EQ(pool.free_pages(), 1u);
  }
}

TEST(recurrent_state, a_fork_keeps_what_was_committed) {
  auto pool = memory::page_pool::make(4, 16).value();
  recurrent_state state(pool, 0);
  step(pool, state, 1);
  {
    const recurrent_state kept = state.fork();
    step(pool, state, 2);
    EXPECT_EQ(pool.data(kept.table()[0])[0], std::byte{1});
    EXPECT_EQ(pool.data(state.table()[0])[0], std::byte{2});
  }
  EXPECT_EQ(pool.free_pages(), 3u);
  state.clear();
  EXPECT_EQ(pool.free_pages(), 4u);
}

}  // namespace
}  // namespace infer::plan
