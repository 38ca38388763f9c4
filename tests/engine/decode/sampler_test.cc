// The sampling chain against implementations of its definition, and the generator against published vectors.
#include "engine/decode/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "engine/core/elementary.h"
#include "engine/decode/philox.h"
#include "engine/decode/repetition.h"
#include "tests/engine/decode/sampling_reference.h"

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
      ASSERT_EQ(s.sample(logits, p, {.position = position}).token.id, naive(logits, p, position))
          << "seed " << seed << " position " << position;
  }
}

TEST(sampler, temperature_zero_takes_the_best_and_of_equals_the_lowest_id) {
  sampler s;
  const std::vector<float> logits{1, 3, 2, 3};
  EXPECT_EQ(s.sample(logits, {.temperature = 0}, {}).token.id, 1);
}

TEST(sampler, top_k_one_and_a_tiny_top_p_are_greedy) {
  sampler s;
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const auto logits = random_logits(500, 2 * seed);
    const auto best = static_cast<token_id>(std::ranges::max_element(logits) - logits.begin());
    EXPECT_EQ(s.sample(logits, {.top_k = 1, .seed = seed}, {.position = 3}).token.id, best);
    EXPECT_EQ(s.sample(logits, {.top_p = 0, .seed = seed}, {.position = 3}).token.id, best);
    EXPECT_EQ(s.sample(logits, {.min_p = 1, .seed = seed}, {.position = 3}).token.id, best);
  }
}

TEST(sampler, draws_have_the_frequencies_of_the_distribution) {
  sampler s;
  const std::vector<float> logits{0.0f, 1.0f, 2.0f, -1.0f};
  double total = 0;
  for (const float l : logits) total += std::exp(static_cast<double>(l));
  std::map<token_id, int> seen;
  constexpr int draws = 40000;
  for (int i = 0; i < draws; ++i)
    ++seen[s.sample(logits, {.seed = 17}, {.position = static_cast<std::uint32_t>(i)}).token.id];
  for (token_id id = 0; id < 4; ++id)
    EXPECT_NEAR(seen[id] / static_cast<double>(draws), std::exp(logits[id]) / total, 0.01);
}

TEST(sampler, does_not_remember_earlier_calls) {
  sampler used, fresh;
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    used.sample(random_logits(900, seed), {.top_p = 0.9f, .seed = seed}, {.position = seed});
  const auto logits = random_logits(900, 77);
  EXPECT_EQ(used.sample(logits, {.seed = 5}, {.position = 9}).token.id,
            fresh.sample(logits, {.seed = 5}, {.position = 9}).token.id);
}

TEST(sampler, reports_log_probabilities_of_the_models_own_distribution) {
  sampler s;
  const auto logits = random_logits(3000, 3);
  double total = 0;
  for (const float l : logits) total += std::exp(static_cast<double>(l));
  const auto out = s.sample(logits, {.temperature = 0.3f, .top_k = 5, .seed = 1}, {}, 4);
  EXPECT_NEAR(out.token.logprob, logits[out.token.id] - std::log(total), 1e-5);
  ASSERT_EQ(out.top.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(out.top[i].logprob, logits[out.top[i].id] - std::log(total), 1e-5);
    if (i > 0) {
      EXPECT_GE(out.top[i - 1].logprob, out.top[i].logprob);
    }
  }
}

/// Parameters in which everything may be on, in any order.
sampling_params random_params(std::uint32_t seed) {
  std::mt19937 random(seed * 77 + 5);
  const auto one_in = [&](std::uint32_t n) { return random() % n == 0; };
  const auto between = [&](float low, float high) {
    return low + (high - low) * static_cast<float>(random() % 1000) / 1000;
  };
  sampling_params p;
  p.seed = random();
  p.choice = random() % 3;
  p.temperature = one_in(6) ? 0.0f : between(0.3f, 1.8f);
  if (one_in(2)) p.top_k = random() % 90;
  if (one_in(2)) p.top_p = between(0.2f, 1);
  if (one_in(2)) p.min_p = between(0, 0.3f);
  if (one_in(3)) p.typical_p = between(0.2f, 1);
  if (one_in(4)) p.top_n_sigma = between(0.5f, 3);
  if (one_in(3)) p.xtc_probability = between(0.2f, 1), p.xtc_threshold = between(0.02f, 0.3f);
  if (one_in(4)) p.dynamic_range = between(0.1f, 0.8f), p.dynamic_exponent = between(0.5f, 2);
  if (one_in(4)) p.min_keep = random() % 8;
  if (one_in(2)) p.repeat_penalty = between(0.9f, 1.6f);
  if (one_in(2)) p.presence_penalty = between(-1, 2), p.frequency_penalty = between(-0.5f, 1);
  if (one_in(2)) p.dry_multiplier = between(0.5f, 3);
  for (std::uint32_t i = 0; one_in(2) && i < 20; ++i)
    p.biases.push_back({static_cast<token_id>(random() % 300), between(-9, 9)});
  if (one_in(2)) std::ranges::shuffle(p.stages, random);
  if (one_in(5)) p.stages.resize(random() % p.stages.size());
  if (one_in(4)) p.mirostat = static_cast<std::uint8_t>(1 + random() % 2);
  return p;
}

void run_slowly(slow_chain& s, const sampling_params& p, const sampling_place& place) {
  const std::vector<token_id> history(place.history.begin(), place.history.end());
  for (const token_bias& b : p.biases) s.bias(b.id, b.bias);
  for (const token_id id : place.forbidden) s.bias(id, -INFINITY);
  const bool filters = p.mirostat == 0;
  for (const sampling_stage stage : p.stages) {
    if (stage == sampling_stage::penalties) s.penalties(history, p);
    if (stage == sampling_stage::dry && p.dry_multiplier > 0) s.dry(history, p, {});
    if (!filters) continue;
    if (stage == sampling_stage::top_n_sigma) s.top_n_sigma(p.top_n_sigma);
    if (stage == sampling_stage::top_k) s.top_k(p.top_k);
    if (stage == sampling_stage::typical) s.typical(p.typical_p, p.min_keep);
    if (stage == sampling_stage::top_p) s.top_p(p.top_p, p.min_keep);
    if (stage == sampling_stage::min_p) s.min_p(p.min_p, p.min_keep);
    if (stage == sampling_stage::xtc && uniform_draw(p.seed, p.choice, place.position, 1) < p.xtc_probability)
      s.xtc(p.xtc_threshold, p.min_keep);
    if (stage == sampling_stage::temperature) s.temperature(p.temperature, p.dynamic_range, p.dynamic_exponent);
  }
  if (filters) return;
  s.temperature(p.temperature, 0, 1);
  p.mirostat == 1 ? s.mirostat1(place.state) : s.mirostat2(place.state);
}

TEST(sampler, picks_what_the_chain_in_f64_picks_for_any_parameters_in_any_order) {
  sampler s;
  int unclear = 0;
  constexpr std::uint32_t rounds = 3000;
  for (std::uint32_t seed = 0; seed < rounds; ++seed) {
    const auto logits = random_logits(10 + seed * 7 % 290, seed, 1 + static_cast<float>(seed % 4));
    const sampling_params p = random_params(seed);
    std::vector<token_id> history;
    std::mt19937 random(seed);
    for (std::uint32_t i = 0; i < seed % 70; ++i) history.push_back(static_cast<token_id>(random() % 9));
    const std::vector<token_id> forbidden{3, 4, 9999};
    sampling_place place{.position = seed % 50, .history = history, .state = 2 + 0.3f * static_cast<float>(seed % 20)};
    if (seed % 5 == 0) place.forbidden = forbidden;
    slow_chain reference(logits);
    run_slowly(reference, p, place);
    const token_id expected = reference.draw(uniform_draw(p.seed, p.choice, place.position, 0));
    const auto got = s.sample(logits, p, place);
    if (reference.unclear()) {
      ++unclear;
      continue;
    }
    ASSERT_EQ(got.token.id, expected) << "seed " << seed;
    const double surprise = -std::log2(reference.probabilities().at(expected));
    const double state = p.mirostat == 0 ? 0 : place.state - p.mirostat_eta * (surprise - p.mirostat_tau);
    ASSERT_NEAR(got.state, state, 1e-4) << "seed " << seed;
  }
  EXPECT_LE(unclear, rounds / 6);
}

TEST(sampler, goes_on_from_a_log_and_its_state_with_the_same_tokens) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    sampling_params p = random_params(seed);
    if (p.temperature == 0) p.temperature = 1;
    const auto run = [&](std::vector<token_id>& log, float& state, std::size_t upto) {
      sampler fresh;
      while (log.size() < upto) {
        const auto position = static_cast<std::uint32_t>(log.size());
        const auto made = fresh.sample(random_logits(300, seed * 100 + position), p,
                                       {.position = position, .history = log, .state = state});
        log.push_back(made.token.id);
        state = made.state;
      }
    };
    std::vector<token_id> whole;
    float state = first_state(p);
    run(whole, state, 30);
    std::vector<token_id> pieces;
    float carried = first_state(p);
    for (std::size_t upto = 1; upto <= 30; ++upto) run(pieces, carried, upto);
    ASSERT_EQ(pieces, whole) << seed;
    ASSERT_EQ(carried, state) << seed;
  }
}

TEST(sampler, a_stage_that_is_not_named_does_not_happen) {
  sampler s;
  const auto logits = random_logits(400, 2);
  sampling_params p;
  p.top_k = 1;
  p.stages = {};
  std::set<token_id> seen;
  for (std::uint32_t position = 0; position < 50; ++position)
    seen.insert(s.sample(logits, p, {.position = position}).token.id);
  EXPECT_GT(seen.size(), 1u);
}

TEST(sampler, biases_and_forbidden_tokens_hold_for_greedy_too) {
  sampler s;
  const std::vector<float> logits{1, 5, 4, 3};
  const std::vector<token_id> first{1};
  EXPECT_EQ(s.sample(logits, {.temperature = 0}, {.forbidden = first}).token.id, 2);
  sampling_params p{.temperature = 0};
  p.biases = {{3, 100}, {-5, 1}, {70000, 1}};
  const auto made = s.sample(logits, p, {});
  EXPECT_EQ(made.token.id, 3);
  EXPECT_NEAR(made.token.logprob, 3 - std::log(std::exp(1.0) + std::exp(5.0) + std::exp(4.0) + std::exp(3.0)), 1e-5)
      << "log-probabilities are the model's own";
}

TEST(sampler, xtc_happens_as_often_as_it_should) {
  sampler s;
  const std::vector<float> logits{3, 2.9f, 2.8f, -4};
  sampling_params p;
  p.xtc_probability = 0.3f;
  p.seed = 5;
  int least = 0;
  constexpr int draws = 20000;
  for (std::uint32_t i = 0; i < draws; ++i) least += s.sample(logits, p, {.position = i}).token.id == 2 ? 1 : 0;
  const double e = std::exp(0.1), share = 1 / (e * e + e + 1 + std::exp(-6.8));
  EXPECT_NEAR(least / static_cast<double>(draws), 0.3 * (1 / (1 + std::exp(-6.8))) + 0.7 * share, 0.015);
}

}  // namespace
}  // namespace infer::decode
