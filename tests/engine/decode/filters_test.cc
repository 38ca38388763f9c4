// Every filter against its definition in f64 on many distributions, with equal logits among them, against Hugging
// Face's filters, and its corner cases.
#include "engine/decode/filters.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/decode/repetition.h"
#include "tests/engine/decode/sampling_reference.h"

namespace infer::decode {
namespace {

float share(std::uint32_t seed) {
  return 0.03f + 0.07f * static_cast<float>(seed % 14);
}
std::uint32_t least(std::uint32_t seed) {
  return seed % 3 == 0 ? seed % 20 : 0;
}

TEST(filters, top_k_keeps_the_k_best) {
  compare_filters([](candidates& c, std::uint32_t seed) { keep_top_k(c, seed % 50); },
                  [](slow_chain& s, std::uint32_t seed) { s.top_k(seed % 50); }, 0);
}

TEST(filters, top_p_keeps_the_shortest_prefix_that_reaches_it) {
  compare_filters([](candidates& c, std::uint32_t seed) { keep_top_p(c, share(seed), least(seed)); },
                  [](slow_chain& s, std::uint32_t seed) { s.top_p(share(seed), least(seed)); });
}

TEST(filters, min_p_keeps_what_is_likely_enough_beside_the_best) {
  compare_filters([](candidates& c, std::uint32_t seed) { keep_min_p(c, 0.3f * share(seed), least(seed)); },
                  [](slow_chain& s, std::uint32_t seed) { s.min_p(0.3f * share(seed), least(seed)); });
}

TEST(filters, typical_keeps_what_is_near_the_entropy) {
  compare_filters([](candidates& c, std::uint32_t seed) { keep_typical(c, share(seed), least(seed)); },
                  [](slow_chain& s, std::uint32_t seed) { s.typical(share(seed), least(seed)); }, 12);
}

TEST(filters, top_n_sigma_keeps_what_is_within_deviations_of_the_best) {
  compare_filters([](candidates& c, std::uint32_t seed) { keep_top_n_sigma(c, 4 * share(seed)); },
                  [](slow_chain& s, std::uint32_t seed) { s.top_n_sigma(4 * share(seed)); });
}

TEST(filters, xtc_drops_all_likely_ones_but_the_least) {
  compare_filters([](candidates& c, std::uint32_t seed) { drop_top_choices(c, 0.3f * share(seed), least(seed)); },
                  [](slow_chain& s, std::uint32_t seed) { s.xtc(0.3f * share(seed), least(seed)); });
}

TEST(filters, one_after_the_other_work_on_what_is_left) {
  compare_filters(
      [](candidates& c, std::uint32_t seed) {
        apply_temperature(c, 0.7f + 0.1f * static_cast<float>(seed % 9), 0, 1);
        keep_top_k(c, 40 + seed % 60);
        keep_typical(c, 0.9f, 0);
        keep_top_p(c, 0.8f, 0);
        drop_top_choices(c, 0.1f, 0);
        keep_min_p(c, 0.05f, 0);
      },
      [](slow_chain& s, std::uint32_t seed) {
        s.temperature(0.7f + 0.1f * static_cast<float>(seed % 9), 0, 1);
        s.top_k(40 + seed % 60);
        s.typical(0.9f, 0);
        s.top_p(0.8f, 0);
        s.xtc(0.1f, 0);
        s.min_p(0.05f, 0);
      },
      20);
}

TEST(filters, the_temperature_follows_the_entropy_within_its_range) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const auto logits = random_logits(2 + seed * 7 % 400, seed, 0.2f + static_cast<float>(seed % 6));
    const float range = 0.1f * static_cast<float>(seed % 9), exponent = 0.5f + 0.25f * static_cast<float>(seed % 5);
    candidates c;
    c.reset(logits);
    apply_temperature(c, 0.9f, range, exponent);
    slow_chain reference(logits);
    reference.temperature(0.9f, range, exponent);
    const auto expected = reference.probabilities();
    const double total = c.total();
    for (const token_id id : c.ordered()) ASSERT_NEAR(c.weight(id) / total, expected.at(id), 2e-5) << seed;
  }
}

TEST(filters, at_their_off_values_they_do_nothing_and_one_always_stays) {
  const auto logits = random_logits(300, 4);
  candidates c;
  c.reset(logits);
  keep_top_k(c, 0);
  keep_top_k(c, 9999);
  keep_top_p(c, 1, 0);
  keep_min_p(c, 0, 0);
  keep_typical(c, 1, 0);
  keep_top_n_sigma(c, -1);
  keep_top_n_sigma(c, 0);
  drop_top_choices(c, 0.6f, 0);
  EXPECT_TRUE(c.is_whole());
  keep_top_p(c, 0, 0);
  EXPECT_EQ(c.size(), 1u);
  keep_typical(c, 0, 0);
  keep_top_n_sigma(c, 1e-9f);
  drop_top_choices(c, 0, 0);
  apply_temperature(c, 0, 0, 1);
  apply_temperature(c, 1, 1, 1);
  EXPECT_EQ(c.size(), 1u);
  EXPECT_EQ(c.at(0), std::ranges::max_element(logits) - logits.begin());
}

TEST(filters, never_leave_a_forbidden_token) {
  std::vector<float> logits(50, -INFINITY);
  logits[7] = 1, logits[9] = 2, logits[30] = -3;
  candidates c;
  c.reset(logits);
  keep_typical(c, 0.99f, 0);
  apply_temperature(c, 0.8f, 0.5f, 1);
  for (const token_id id : c.ordered()) {
    if (c.weight(id) > 0) {
      EXPECT_TRUE(id == 7 || id == 9 || id == 30) << id;
    }
  }
  c.reset(logits);
  keep_top_n_sigma(c, 1);
  EXPECT_EQ(alive(c), (std::set<token_id>{7, 9}));
}

TEST(filters, power_is_that_of_the_library) {
  for (float base = 0.001f; base < 20; base *= 1.7f) {
    for (float exponent = -3; exponent < 4; exponent += 0.37f)
      EXPECT_NEAR(power_f32(base, exponent) / std::pow(base, exponent), 1, 3e-5) << base << "^" << exponent;
  }
  EXPECT_EQ(power_f32(0, 2), 0);
  EXPECT_EQ(power_f32(0, 0), 1);
}

/// A line of the golden file: filter, parameter, logits, ids before it (penalties only), what must come out.
struct golden_case {
  std::string filter;
  float parameter = 0;
  std::vector<float> logits, expected;  // expected: the logits afterwards, −infinity for what is gone
  std::vector<token_id> history;
};

template <class T>
std::vector<T> numbers(const std::string& text) {
  std::vector<T> out;
  std::istringstream in(text);
  for (std::string item; in >> item;) out.push_back(static_cast<T>(std::stod(item)));
  return out;
}

std::vector<golden_case> golden_cases() {
  std::vector<golden_case> out;
  std::ifstream file("tests/golden/sampling/filters.tsv");
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
    cells.resize(5);
    out.push_back({cells[0], std::stof(cells[1]), numbers<float>(cells[2]), numbers<float>(cells[3]),
                   numbers<token_id>(cells[4])});
  }
  return out;
}

TEST(filters, are_those_of_hugging_face) {
  const auto cases = golden_cases();
  ASSERT_GE(cases.size(), 60u);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const golden_case& g = cases[i];
    SCOPED_TRACE(g.filter + " " + std::to_string(g.parameter) + " case " + std::to_string(i));
    candidates c;
    c.reset(g.logits);
    if (g.filter == "top_k") keep_top_k(c, static_cast<std::uint32_t>(g.parameter));
    if (g.filter == "top_p") keep_top_p(c, g.parameter, 0);
    if (g.filter == "min_p") keep_min_p(c, g.parameter, 0);
    if (g.filter == "typical") keep_typical(c, g.parameter, 0);
    if (g.filter == "repetition") {
      sampling_params p;
      p.repeat_penalty = g.parameter;
      p.repeat_last_n = -1;
      penalize_repeats(c.change(), g.history, p);
    }
    std::vector<float> got(g.logits.size(), -INFINITY);
    for (const token_id id : c.ordered()) got[static_cast<std::size_t>(id)] = c.logit(id);
    ASSERT_EQ(got.size(), g.expected.size());
    for (std::size_t id = 0; id < got.size(); ++id) {
      if (std::isinf(g.expected[id])) {
        EXPECT_TRUE(std::isinf(got[id])) << id;
      } else {
        EXPECT_NEAR(got[id], g.expected[id], 1e-5) << id;
      }
    }
  }
}

}  // namespace
}  // namespace infer::decode
