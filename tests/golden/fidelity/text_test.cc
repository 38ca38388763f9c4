// Real models on 2,048 positions of plain text: against Hugging Face in f32, and against llama.cpp's distance from it.
// Needs the model files that INFER_TEST_MODEL and INFER_TEST_MODEL_2 name; the golden data is made by
// tests/golden/oracle/text_fidelity.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <string>

#include "engine/core/bytes.h"
#include "engine/decode/sampler.h"
#include "tests/support/model_run.h"

namespace infer::decode {
namespace {

constexpr std::size_t positions = 2048, top = 64;

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {(std::istreambuf_iterator<char>(file)), {}};
}

/// The oracle's most likely ids and their log-probabilities at every position of the text.
struct oracle_text {
  std::vector<token_id> ids;
  std::vector<token_id> top_ids;    // [positions, top]
  std::vector<float> top_logprobs;  // [positions, top]
  double peer_kl = 0;               // of llama.cpp's worst variant
  double peer_agreement = 1;
};

oracle_text read_oracle(const std::string& folder) {
  oracle_text out;
  const auto bars = boost::json::parse(read_text(folder + "bars.json"));
  for (const auto& id : bars.at("ids").as_array()) out.ids.push_back(static_cast<token_id>(id.as_int64()));
  for (const auto& variant : bars.at("variants").as_object()) {
    out.peer_kl = std::max(out.peer_kl, variant.value().at("kl").to_number<double>());
    out.peer_agreement = std::min(out.peer_agreement, variant.value().at("top1_agreement").to_number<double>());
  }
  const std::string bytes = read_text(folder + "top64.bin");
  if (bytes.size() != positions * top * 8) return out;
  const auto* at = reinterpret_cast<const std::byte*>(bytes.data());
  for (std::size_t i = 0; i < positions * top; ++i, at += 4) out.top_ids.push_back(load_le<std::int32_t>(at));
  for (std::size_t i = 0; i < positions * top; ++i, at += 4) out.top_logprobs.push_back(load_le<float>(at));
  return out;
}

/// KL(oracle ‖ ours) over the oracle's most likely ids and everything else as one more outcome.
double divergence(const oracle_text& oracle, std::size_t position, std::span<const float> logits) {
  const auto [maximum, log_sum] = log_sum_exp(logits);
  double sum = 0, rest_oracle = 1, rest_ours = 1;
  for (std::size_t i = position * top; i < (position + 1) * top; ++i) {
    const double p = oracle.top_logprobs[i];
    const double q = static_cast<double>(logits[static_cast<std::size_t>(oracle.top_ids[i])]) - maximum - log_sum;
    sum += std::exp(p) * (p - q);
    rest_oracle -= std::exp(p);
    rest_ours -= std::exp(q);
  }
  rest_oracle = std::max(rest_oracle, 1e-9);
  rest_ours = std::max(rest_ours, 1e-9);
  return sum + rest_oracle * std::log(rest_oracle / rest_ours);
}

struct distance {
  double kl = 0, agreement = 0;
};

/// The mean over all positions; logits are looked at as they come, for all of them would fill the memory.
distance mean_distance(const char* path, const plan::program_options& options, const oracle_text& oracle) {
  test_support::model_run model(path, options, positions);
  std::vector<plan::sequence> sequence;
  sequence.push_back(model.new_sequence());
  distance out;
  constexpr std::size_t chunk = 512;
  for (std::size_t from = 0; from < positions; from += chunk) {
    const std::span<const token_id> part = std::span(oracle.ids).subspan(from, chunk);
    model.step(sequence, {&part, 1}, plan::want::all, [&](std::size_t, std::size_t at, std::span<const float> logits) {
      const std::size_t position = from + at;
      const auto best = static_cast<token_id>(std::ranges::max_element(logits) - logits.begin());
      out.kl += divergence(oracle, position, logits) / positions;
      out.agreement += (best == oracle.top_ids[position * top] ? 1.0 : 0.0) / positions;
    });
  }
  return out;
}

struct text_case {
  const char* name;
  const char* variable;  // of the environment, that names the model file
};

class text_fidelity : public testing::TestWithParam<text_case> {};

// The two modes side by side, to use two cores.
TEST_P(text_fidelity, is_the_oracle_s_in_f32_and_as_close_as_the_peer_s_by_default) {
  const char* path = std::getenv(GetParam().variable);
  if (path == nullptr)
    GTEST_SKIP() << GetParam().variable << " names no model file: " << GetParam().name << " is not checked";
  const oracle_text oracle = read_oracle("tests/golden/fidelity/" + std::string(GetParam().name) + "/");
  ASSERT_EQ(oracle.ids.size(), positions);
  ASSERT_EQ(oracle.top_logprobs.size(), positions * top);
  ASSERT_GT(oracle.peer_kl, 0);
  auto f32 = std::async(std::launch::async, [&] { return mean_distance(path, test_support::f32_mode, oracle); });
  const distance d = mean_distance(path, test_support::default_mode, oracle);
  const distance exact = f32.get();
  std::printf("%s, f32: mean KL %.3e, most likely token agrees at %.2f %%\n", GetParam().name, exact.kl,
              100 * exact.agreement);
  EXPECT_LE(exact.kl, 1e-6);
  EXPECT_GE(exact.kl, -1e-6) << "a divergence is not negative: the comparison itself is wrong";
  EXPECT_GE(exact.agreement, 0.99);
  std::printf("%s, default: mean KL %.6f (llama.cpp's worst %.6f), most likely token agrees at %.2f %% (%.2f %%)\n",
              GetParam().name, d.kl, oracle.peer_kl, 100 * d.agreement, 100 * oracle.peer_agreement);
  EXPECT_LE(d.kl, 1.15 * oracle.peer_kl);
  EXPECT_GE(d.agreement, oracle.peer_agreement - 0.01);
}

INSTANTIATE_TEST_SUITE_P(models, text_fidelity,
                         testing::Values(text_case{"smollm2", "INFER_TEST_MODEL"},
                                         text_case{"gemma3", "INFER_TEST_MODEL_2"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace infer::decode
