// Mirostat against its definition, and that it does what it is for.
#include "engine/decode/mirostat.h"

#include <gtest/gtest.h>

#include "tests/engine/decode/sampling_reference.h"

namespace infer::decode {
namespace {

sampling_params version(std::uint8_t number, float tau = 5, float eta = 0.1f) {
  sampling_params p;
  p.mirostat = number;
  p.mirostat_tau = tau;
  p.mirostat_eta = eta;
  return p;
}

float bound_of(std::uint32_t seed) {
  return 0.5f + 0.6f * static_cast<float>(seed % 20);
}

TEST(mirostat, version_1_keeps_as_many_as_the_estimate_says) {
  compare_filters([](candidates& c, std::uint32_t seed) { keep_mirostat(c, version(1), bound_of(seed)); },
                  [](slow_chain& s, std::uint32_t seed) { s.mirostat1(bound_of(seed)); }, 10);
}

TEST(mirostat, version_2_keeps_what_surprises_no_more_than_the_bound) {
  compare_filters([](candidates& c, std::uint32_t seed) { keep_mirostat(c, version(2), bound_of(seed)); },
                  [](slow_chain& s, std::uint32_t seed) { s.mirostat2(bound_of(seed)); });
}

TEST(mirostat, the_bound_moves_against_the_error) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const auto logits = random_logits(200, seed);
    const auto p = version(2, 3, 0.2f);
    candidates c;
    c.reset(logits);
    keep_mirostat(c, p, 8);
    slow_chain reference(logits);
    reference.mirostat2(8);
    const token_id picked = c.at(seed % c.size());
    if (reference.unclear()) continue;
    const double surprise = -std::log2(reference.probabilities().at(picked));
    EXPECT_NEAR(next_bound(c, p, 8, picked), 8 - 0.2 * (surprise - 3), 1e-5);
  }
  EXPECT_EQ(first_bound(version(1, 2.5f)), 5.0f);
}

TEST(mirostat, the_mean_surprise_comes_near_the_target) {
  for (const std::uint8_t number : {1, 2}) {
    for (const float tau : {2.0f, 4.0f}) {
      const auto p = [&] {
        auto out = version(number, tau);
        out.seed = 11;
        return out;
      }();
      sampler s;
      float state = first_state(p);
      double surprise = 0;
      constexpr std::uint32_t steps = 3000;
      for (std::uint32_t position = 0; position < steps; ++position) {
        const auto logits = random_logits(500, position * 2, 2.0f);
        const float before = state;
        state = s.sample(logits, p, {.position = position, .state = state}).state;
        surprise += tau + (before - state) / p.mirostat_eta;
      }
      EXPECT_NEAR(surprise / steps, tau, 0.1) << int{number} << " " << tau;
    }
  }
}

}  // namespace
}  // namespace infer::decode
