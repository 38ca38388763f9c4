// Predictions from measured steps.
#include "actors/model/prefill_pace.h"

#include <gtest/gtest.h>

namespace infer::actors {
namespace {

using namespace std::chrono_literals;

TEST(prefill_pace, predicts_from_the_last_steps) {
  prefill_pace pace;
  EXPECT_EQ(pace.tokens_within(50ms), prefill_pace::unmeasured);
  pace.note(100, 100ms);
  EXPECT_EQ(pace.tokens_within(50ms), 50u);
  pace.note(100, 300ms);
  EXPECT_EQ(pace.tokens_within(50ms), 25u) << "the last step counts half";
}

TEST(prefill_pace, settles_where_a_step_takes_the_time_it_may) {
  prefill_pace pace;
  std::uint32_t tokens = 512;
  // A step costs 12 ms and 0.4 ms for each token.
  const auto cost = [](std::uint32_t n) { return 12ms + n * 400us; };
  for (int step = 0; step < 30; ++step) {
    pace.note(tokens, cost(tokens));
    tokens = pace.tokens_within(50ms);
  }
  EXPECT_NEAR(tokens, 95, 2);
}

TEST(prefill_pace, never_stops_and_ignores_what_cannot_be_measured) {
  prefill_pace pace;
  pace.note(64, 0ns);
  pace.note(0, 10ms);
  EXPECT_EQ(pace.tokens_within(50ms), prefill_pace::unmeasured);
  pace.note(1, 10s);
  EXPECT_EQ(pace.tokens_within(50ms), prefill_pace::fewest);
  prefill_pace quick;
  quick.note(4'000'000'000u, 1ns);
  EXPECT_GT(quick.tokens_within(50ms), 1'000'000u);
}

}  // namespace
}  // namespace infer::actors
