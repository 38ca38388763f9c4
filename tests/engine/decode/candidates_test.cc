// The set of candidates: its order, its sums, and what shrinking and changing it do.
#include "engine/decode/candidates.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/engine/decode/sampling_reference.h"

namespace infer::decode {
namespace {

TEST(candidates, are_in_order_however_they_are_looked_at) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const auto logits = random_logits(1 + seed * 37 % 900, seed);
    const auto expected = slow_chain(logits).ranked();
    candidates one_by_one, at_once;
    one_by_one.reset(logits);
    at_once.reset(logits);
    for (std::size_t i = 0; i < logits.size(); ++i) ASSERT_EQ(one_by_one.at(i), expected[i]) << seed << " " << i;
    const auto order = at_once.ordered();
    ASSERT_EQ(std::vector<token_id>(order.begin(), order.end()), expected);
  }
}

TEST(candidates, sums_agree_with_f64) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const auto logits = random_logits(2 + seed * 31 % 2000, seed);
    candidates c;
    c.reset(logits);
    if (seed % 3 != 0) c.keep_first(1 + seed);
    c.divide(0.5f + 0.1f * static_cast<float>(seed % 10));
    slow_chain reference(logits);
    if (seed % 3 != 0) reference.top_k(1 + seed);
    reference.temperature(0.5f + 0.1f * static_cast<float>(seed % 10), 0, 1);
    const auto probabilities = reference.probabilities();
    EXPECT_NEAR(c.total() * probabilities.at(c.at(0)), 1, 1e-5);
    EXPECT_NEAR(c.entropy(), reference.entropy(), 1e-5);
    double mean = 0, squares = 0;
    for (const token_id id : reference.alive()) mean += reference.score(id) / static_cast<double>(c.size());
    for (const token_id id : reference.alive()) squares += std::pow(reference.score(id) - mean, 2);
    EXPECT_NEAR(c.scaled_spread().mean, mean, 1e-5);
    EXPECT_NEAR(c.scaled_spread().deviation, std::sqrt(squares / static_cast<double>(c.size())), 1e-5);
  }
}

TEST(candidates, keep_and_drop_leave_the_right_ones_in_order) {
  const auto logits = random_logits(500, 3);
  const auto order = slow_chain(logits).ranked();
  candidates c;
  c.reset(logits);
  c.keep_first(100);
  c.drop_first(30);
  EXPECT_EQ(c.size(), 70u);
  EXPECT_EQ(c.at(0), order[30]);
  EXPECT_EQ(c.at(69), order[99]);
  const std::vector<token_id> chosen{order[50], order[40], order[99]};
  c.keep(chosen);
  EXPECT_EQ(alive(c), (std::set<token_id>{order[40], order[50], order[99]}));
  EXPECT_EQ(c.at(0), order[40]);
  c.drop_first(99);
  EXPECT_EQ(c.size(), 1u) << "one always stays";
  EXPECT_EQ(c.at(0), order[99]);
  c.keep_first(0);
  EXPECT_EQ(c.size(), 1u);
}

TEST(candidates, changes_reorder_and_leave_the_callers_logits_alone) {
  const std::vector<float> logits{1, 2, 3, 4};
  candidates c;
  c.reset(logits);
  c.keep_first(3);
  c.divide(2);
  c.change()[1] += 10;
  EXPECT_EQ(logits[1], 2);
  EXPECT_EQ(alive(c), (std::set<token_id>{1, 2, 3}));
  EXPECT_EQ(c.at(0), 1);
  EXPECT_EQ(c.logit(1), 11);
  EXPECT_EQ(c.logit(3), 2) << "the temperature is in it";
  EXPECT_EQ(c.factor(), 1);
  c.reset(logits);
  EXPECT_EQ(c.at(0), 3);
  EXPECT_TRUE(c.is_whole());
}

}  // namespace
}  // namespace infer::decode
