// Penalties and DRY against their definitions, tried out place by place.
#include "engine/decode/repetition.h"

#include <gtest/gtest.h>

#include "tests/engine/decode/sampling_reference.h"

namespace infer::decode {
namespace {

std::vector<token_id> random_history(std::size_t length, std::uint32_t seed, token_id alphabet) {
  std::mt19937 random(seed);
  std::vector<token_id> out(length);
  for (token_id& id : out) id = static_cast<token_id>(random() % static_cast<std::uint32_t>(alphabet));
  return out;
}

void expect_scores(const std::vector<float>& got, const slow_chain& expected, std::uint32_t seed) {
  for (std::size_t id = 0; id < got.size(); ++id) {
    const double want = expected.score(static_cast<token_id>(id));
    ASSERT_NEAR(got[id], want, 1e-4 * (1 + std::abs(want))) << "seed " << seed << " id " << id;
  }
}

TEST(repetition, penalties_follow_their_definition) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    auto logits = random_logits(60, seed);
    const auto history = random_history(seed % 150, seed, 40 + static_cast<token_id>(seed % 40));
    sampling_params p;
    p.repeat_penalty = 0.8f + 0.1f * static_cast<float>(seed % 7);
    p.presence_penalty = -2 + 0.5f * static_cast<float>(seed % 9);
    p.frequency_penalty = -1 + 0.25f * static_cast<float>(seed % 8);
    p.repeat_last_n = seed % 4 == 0 ? -1 : static_cast<std::int32_t>(seed % 80);
    slow_chain reference(logits);
    reference.penalties(history, p);
    penalize_repeats(logits, history, p);
    expect_scores(logits, reference, seed);
  }
}

TEST(repetition, penalties_of_a_hand_made_case) {
  std::vector<float> logits{2, -2, 5, 1};
  sampling_params p;
  p.repeat_penalty = 2;
  p.presence_penalty = 0.5f;
  p.frequency_penalty = 0.25f;
  penalize_repeats(logits, std::vector<token_id>{0, 1, 1, 77}, p);
  EXPECT_EQ(logits, (std::vector<float>{0.25f, -5, 5, 1}));
}

TEST(repetition, dry_follows_its_definition) {
  const std::set<token_id> breakers{0, 5};
  const auto bytes_of = [](token_id id) { return std::string_view(id == 0 ? "\n" : id == 5 ? "a:b" : "word"); };
  int penalized = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    auto logits = random_logits(12, seed);
    const auto before = logits;
    const auto history = random_history(seed % 120, seed, 2 + static_cast<token_id>(seed % 10));
    sampling_params p;
    p.dry_multiplier = 0.4f + 0.2f * static_cast<float>(seed % 5);
    p.dry_base = 1.1f + 0.2f * static_cast<float>(seed % 4);
    p.dry_allowed_length = seed % 5;
    p.dry_last_n = seed % 3 == 0 ? -1 : static_cast<std::int32_t>(seed % 60);
    const bool breaks = seed % 2 == 0;
    if (breaks) p.dry_breakers = std::make_shared<sequence_breakers>(std::vector<std::string>{"\n", ":"}, bytes_of);
    slow_chain reference(logits);
    reference.dry(history, p, breaks ? breakers : std::set<token_id>{});
    penalize_runs(logits, history, p);
    expect_scores(logits, reference, seed);
    penalized += logits != before ? 1 : 0;
  }
  EXPECT_GT(penalized, 150);
}

TEST(repetition, dry_of_a_hand_made_case) {
  // "1 2 3 4 | 1 2 3": the 4 would lengthen a repetition of three tokens.
  std::vector<float> logits(6, 0.0f);
  sampling_params p;
  p.dry_multiplier = 0.8f;
  p.dry_base = 2;
  penalize_runs(logits, std::vector<token_id>{1, 2, 3, 4, 1, 2, 3}, p);
  EXPECT_EQ(logits, (std::vector<float>{0, 0, 0, 0, -1.6f, 0}));
  // With a breaker inside the repetition only what follows it counts.
  std::vector<float> broken(6, 0.0f);
  p.dry_breakers = std::make_shared<sequence_breakers>(
      std::vector<std::string>{"two"}, [](token_id id) { return std::string_view(id == 2 ? "two" : "x"); });
  penalize_runs(broken, std::vector<token_id>{1, 2, 3, 4, 1, 2, 3}, p);
  EXPECT_EQ(broken, std::vector<float>(6, 0.0f));
}

TEST(repetition, a_long_repetition_costs_a_finite_penalty) {
  std::vector<float> logits(3, 0.0f);
  sampling_params p;
  p.dry_multiplier = 1;
  p.dry_base = 4;
  penalize_runs(logits, std::vector<token_id>(5000, 1), p);
  EXPECT_TRUE(std::isfinite(logits[1]));
  EXPECT_LT(logits[1], -1e30f);
  EXPECT_EQ(logits[2], 0);
}

TEST(sequence_breakers, are_found_across_and_inside_tokens) {
  const std::vector<std::string> pieces{"Hel", "lo\n", "wor", "ld", " END", "EN", "D", ""};
  const auto bytes_of = [&](token_id id) { return std::string_view(pieces[static_cast<std::size_t>(id)]); };
  const sequence_breakers breakers({"\n", "END", ""}, bytes_of);
  const auto since = [&](std::vector<token_id> text) { return breakers.since_last(text); };
  EXPECT_EQ(since({0, 2, 3}), 3u);
  EXPECT_EQ(since({0, 1, 2, 3}), 2u);
  EXPECT_EQ(since({1}), 0u);
  EXPECT_EQ(since({0, 5, 6, 2}), 1u) << "EN and D together";
  EXPECT_EQ(since({0, 5, 7, 6, 2}), 1u) << "with a token of no bytes between them";
  EXPECT_EQ(since({0, 5, 2, 6}), 4u);
  EXPECT_EQ(since({}), 0u);
  EXPECT_TRUE(breakers.holds(1));
  EXPECT_TRUE(breakers.holds(4));
  EXPECT_FALSE(breakers.holds(5));
  EXPECT_EQ(sequence_breakers({}, bytes_of).since_last(std::vector<token_id>{0, 1}), 2u);
}

TEST(sequence_breakers, a_long_text_is_read_once) {
  std::size_t read = 0;
  const auto bytes_of = [&](token_id id) {
    ++read;
    return std::string_view(id == 0 ? "ab" : id == 1 ? "a" : id == 2 ? "b" : "");
  };
  const sequence_breakers long_ones({std::string(1000, 'b'), "aaab"}, bytes_of);
  EXPECT_EQ(long_ones.since_last(std::vector<token_id>(5000, 0)), 5000u);
  EXPECT_LT(read, 15000u);
  // Whatever is read at a time: where a breaker ends is the same as for its whole text.
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const std::vector<token_id> text = random_history(seed * 3, seed, 4);
    const std::vector<std::string> texts{std::string(1 + seed % 70, 'b'), "aaab", std::string(seed % 9, 'a') + "bb"};
    std::size_t expected = text.size();
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::size_t own = bytes_of(text[at]).size();
      bytes += bytes_of(text[at]);
      for (std::size_t cut = 0; cut < own; ++cut) {
        for (const std::string& one : texts)
          if (std::string_view(bytes).substr(0, bytes.size() - cut).ends_with(one)) expected = text.size() - 1 - at;
      }
    }
    ASSERT_EQ(sequence_breakers(texts, bytes_of).since_last(text), expected) << seed;
  }
}

TEST(repetition, the_last_of_a_text) {
  const std::vector<token_id> text{1, 2, 3};
  EXPECT_EQ(last_of(text, -1).size(), 3u);
  EXPECT_EQ(last_of(text, 9).size(), 3u);
  EXPECT_EQ(last_of(text, 2).front(), 2);
  EXPECT_TRUE(last_of(text, 0).empty());
}

}  // namespace
}  // namespace infer::decode
