// The sampling chain against a plain implementation of its definition, and the generator against published vectors.
#include "engine/decode/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "engine/core/elementary.h"
#include "engine/decode/philox.h"

namespace infer::decode {
namespace {

TEST(philox, matches_the_published_vectors) {
  // Known-answer tests of the Random123 distribution.
  using counter = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(philox, draws_depend_on_every_part_of_their_place) {
  const float base = uniform_draw(1, 2, 3, 4);
  EXPECT_NE(base, uniform_draw(2, 2, 3, 4));
  EXPECT_NE(base, uniform_draw(1, 3, 3, 4));
  EXPECT_NE(base, uniform_draw(1, 2, 4, 4));
  EXPECT_NE(base, uniform_draw(1, 2, 3, 5));
  EXPECT_NE(base, uniform_draw(1 + (std::uint64_t{1} << 32), 2, 3, 4));
}

std::vector<float> random_logits(std::size_t count, std::uint32_t seed, float spread = 4) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw(0, spread);
  std::vector<float> out(count);
  for (float& x : out) x = draw(random);
  return out;
}

/// The definition, sorted in full.
token_id naive(const std::vector<float>& logits, const sampling_params& p, std::uint32_t position) {
  std::vector<token_id> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](token_id a, token_id b) { return logits[a] > logits[b]; });
  const float maximum = logits[order[0]];
  const auto whole = [&](float inverse) {
    float total = 0;
    for (std::size_t from = 0; from < logits.size(); from += 512) {
      float lanes[16] = {};
      for (std::size_t i = from; i < std::min(from + 512, logits.size()); ++i)
        lanes[i % 16] += exp_f32((logits[i] - maximum) * inverse);
      for (int step = 8; step > 0; step /= 2)
        for (int lane = 0; lane < step; ++lane) lanes[lane] += lanes[lane + step];
      total += lanes[0];
    }
    return total;
  };
  const auto prefix_sum = [&](std::size_t kept, float inverse) {
    if (kept == logits.size()) return whole(inverse);
    float total = 0;
    for (std::size_t i = 0; i < kept; ++i) total += exp_f32((logits[order[i]] - maximum) * inverse);
    return total;
  };
  std::size_t kept = p.top_k > 0 ? std::min<std::size_t>(p.top_k, logits.size()) : logits.size();
  if (p.top_p < 1) {
    const float enough = p.top_p * prefix_sum(kept, 1);
    float sum = 0;
    std::size_t n = 0;
    while (n < kept && (n == 0 || sum < enough)) sum += exp_f32(logits[order[n++]] - maximum);
    kept = n;
  }
  if (p.min_p > 0) {
    std::size_t n = 1;
    while (n < kept && exp_f32(logits[order[n]] - maximum) >= p.min_p) ++n;
    kept = n;
  }
  const float inverse = 1.0f / p.temperature;
  const float target = uniform_draw(p.seed, p.choice, position, 0) * prefix_sum(kept, inverse);
  float sum = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    sum += exp_f32((logits[order[i]] - maximum) * inverse);
    if (sum > target) return order[i];
  }
  return order[kept - 1];
}

TEST(sampler, follows_its_definition_for_every_filter) {
  sampler s;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const auto logits = random_logits(1 + seed * 7 % 3000, seed);
    sampling_params p;
    p.seed = seed;
    p.temperature = 0.2f + 0.1f * static_cast<float>(seed % 20);
    p.top_k = seed % 3 == 0 ? seed % 90 : 0;
    p.top_p = seed % 4 == 0 ? 1.0f : 0.5f + 0.1f * static_cast<float>(seed % 5);
    p.min_p = seed % 5 == 0 ? 0.05f : 0.0f;
    for (std::uint32_t position = 0; position < 4; ++position)
      ASSERT_EQ(s.sample(logits, p, position).token.id, naive(logits, p, position))
          << "seed " << seed << " position " << position;
  }
}

TEST(sampler, temperature_zero_takes_the_best_and_of_equals_the_lowest_id) {
  sampler s;
  const std::vector<float> logits{1, 3, 2, 3};
  EXPECT_EQ(s.sample(logits, {.temperature = 0}, 0).token.id, 1);
}

TEST(sampler, top_k_one_and_a_tiny_top_p_are_greedy) {
  sampler s;
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const auto logits = random_logits(500, seed);
    const auto best = static_cast<token_id>(std::ranges::max_element(logits) - logits.begin());
    EXPECT_EQ(s.sample(logits, {.top_k = 1, .seed = seed}, 3).token.id, best);
    EXPECT_EQ(s.sample(logits, {.top_p = 0, .seed = seed}, 3).token.id, best);
    EXPECT_EQ(s.sample(logits, {.min_p = 1, .seed = seed}, 3).token.id, best);
  }
}

TEST(sampler, draws_have_the_frequencies_of_the_distribution) {
  sampler s;
  const std::vector<float> logits{0.0f, 1.0f, 2.0f, -1.0f};
  double total = 0;
  for (const float l : logits) total += std::exp(static_cast<double>(l));
  std::map<token_id, int> seen;
  constexpr int draws = 40000;
  for (int i = 0; i < draws; ++i) ++seen[s.sample(logits, {.seed = 17}, static_cast<std::uint32_t>(i)).token.id];
  for (token_id id = 0; id < 4; ++id)
    EXPECT_NEAR(seen[id] / static_cast<double>(draws), std::exp(logits[id]) / total, 0.01);
}

TEST(sampler, does_not_remember_earlier_calls) {
  sampler used, fresh;
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    used.sample(random_logits(900, seed), {.top_p = 0.9f, .seed = seed}, seed);
  const auto logits = random_logits(900, 77);
  EXPECT_EQ(used.sample(logits, {.seed = 5}, 9).token.id, fresh.sample(logits, {.seed = 5}, 9).token.id);
}

TEST(sampler, reports_log_probabilities_of_the_models_own_distribution) {
  sampler s;
  const auto logits = random_logits(3000, 3);
  double total = 0;
  for (const float l : logits) total += std::exp(static_cast<double>(l));
  const auto out = s.sample(logits, {.temperature = 0.3f, .top_k = 5, .seed = 1}, 0, 4);
  EXPECT_NEAR(out.token.logprob, logits[out.token.id] - std::log(total), 1e-5);
  ASSERT_EQ(out.top.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(out.top[i].logprob, logits[out.top[i].id] - std::log(total), 1e-5);
    if (i > 0) {
      EXPECT_GE(out.top[i - 1].logprob, out.top[i].logprob);
    }
  }
}

}  // namespace
}  // namespace infer::decode
