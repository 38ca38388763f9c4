// SmolLM2 against Hugging Face in f32 and against llama.cpp's distance from it. Needs the model file that
// INFER_TEST_MODEL names; the golden data is made by tests/golden/oracle/smollm2_*.py.
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

using test_support::model_run;
using test_support::sequence_record;

constexpr const char* folder = "tests/golden/fidelity/smollm2/";
constexpr std::size_t positions = 512, top = 64;

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {(std::istreambuf_iterator<char>(file)), {}};
}

std::vector<token_id> ids_of(const boost::json::value& value) {
  std::vector<token_id> ids;
  for (const auto& id : value.as_array()) ids.push_back(static_cast<token_id>(id.as_int64()));
  return ids;
}

token_id most_likely_id(std::span<const float> logits) {
  return static_cast<token_id>(std::ranges::max_element(logits) - logits.begin());
}

class smollm2 : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::getenv("INFER_TEST_MODEL");
    if (path_ == nullptr) GTEST_SKIP() << "INFER_TEST_MODEL does not name SmolLM2-135M-Instruct.Q4_1.gguf";
  }

  const char* path_ = nullptr;
};

/// The oracle's most likely ids and their log-probabilities at every position of the text.
struct oracle_text {
  std::vector<token_id> ids;
  std::vector<token_id> top_ids;    // [positions, top]
  std::vector<float> top_logprobs;  // [positions, top]
  double peer_kl = 0;               // of llama.cpp's worst variant
  double peer_agreement = 1;
};

oracle_text read_oracle() {
  oracle_text out;
  const auto bars = boost::json::parse(read_text(std::string(folder) + "bars.json"));
  out.ids = ids_of(bars.at("ids"));
  for (const auto& variant : bars.at("variants").as_object()) {
    out.peer_kl = std::max(out.peer_kl, variant.value().at("kl").to_number<double>());
    out.peer_agreement = std::min(out.peer_agreement, variant.value().at("top1_agreement").to_number<double>());
  }
  const std::string bytes = read_text(std::string(folder) + "top64.bin");
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

distance mean_distance(const oracle_text& oracle, std::span<const float> logits) {
  distance out;
  const std::size_t vocabulary = logits.size() / positions;
  for (std::size_t position = 0; position < positions; ++position) {
    const auto ours = logits.subspan(position * vocabulary, vocabulary);
    out.kl += divergence(oracle, position, ours) / positions;
    out.agreement += (most_likely_id(ours) == oracle.top_ids[position * top] ? 1.0 : 0.0) / positions;
  }
  return out;
}

class smollm2_text : public smollm2 {
 protected:
  void SetUp() override {
    smollm2::SetUp();
    if (IsSkipped()) return;
    oracle_ = read_oracle();
    ASSERT_EQ(oracle_.ids.size(), positions);
    ASSERT_EQ(oracle_.top_logprobs.size(), positions * top);
    ASSERT_GT(oracle_.peer_kl, 0);
  }

  oracle_text oracle_;
};

// The two modes side by side, to use two cores.
TEST_F(smollm2_text, is_the_oracle_s_in_f32_and_as_close_as_the_peer_s_by_default) {
  const auto texts = std::span(&oracle_.ids, 1);
  auto f32 = std::async(std::launch::async, [&] {
    model_run model(path_, test_support::f32_mode, positions);
    return mean_distance(oracle_, model.run(texts, positions)[0].logits);
  });
  model_run model(path_, test_support::default_mode, positions);
  const sequence_record whole = std::move(model.run(texts, positions)[0]);
  EXPECT_TRUE(model.run(texts, 7)[0] == whole) << "in chunks of 7";

  const distance exact = f32.get();
  std::printf("f32: mean KL %.3e, most likely token agrees at %.2f %%\n", exact.kl, 100 * exact.agreement);
  EXPECT_LE(exact.kl, 1e-6);
  EXPECT_GE(exact.kl, -1e-6) << "a divergence is not negative: the comparison itself is wrong";
  EXPECT_GE(exact.agreement, 0.99);

  const distance d = mean_distance(oracle_, whole.logits);
  std::printf("default: mean KL %.6f (llama.cpp's worst %.6f), most likely token agrees at %.2f %% (%.2f %%)\n", d.kl,
              oracle_.peer_kl, 100 * d.agreement, 100 * oracle_.peer_agreement);
  EXPECT_LE(d.kl, 1.15 * oracle_.peer_kl);
  EXPECT_GE(d.agreement, oracle_.peer_agreement - 0.01);
}

struct greedy_case {
  std::string name;
  std::vector<token_id> ids, greedy;
  std::vector<double> gap;  // nats between the oracle's choice and its second
};

std::vector<greedy_case> read_greedy() {
  std::vector<greedy_case> out;
  const auto file = boost::json::parse(read_text(std::string(folder) + "greedy.json"));
  for (const auto& row : file.at("prompts").as_array()) {
    greedy_case c{std::string(row.at("name").as_string()), ids_of(row.at("ids")), ids_of(row.at("greedy")), {}};
    for (const auto& gap : row.at("gap").as_array()) c.gap.push_back(gap.to_number<double>());
    out.push_back(std::move(c));
  }
  return out;
}

class smollm2_greedy : public smollm2 {
 protected:
  void SetUp() override {
    smollm2::SetUp();
    if (IsSkipped()) return;
    cases_ = read_greedy();
    ASSERT_EQ(cases_.size(), 12u);
    for (const greedy_case& c : cases_) {
      ASSERT_EQ(c.greedy.size(), 64u);
      ASSERT_EQ(c.gap.size(), 64u);
    }
  }

  /// The first difference of each text, if any, must be where the oracle itself was less sure than `margin` nats.
  void check(const std::vector<std::vector<token_id>>& ours, double margin) const {
    std::size_t equal = 0;
    double widest = 0;
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      ASSERT_EQ(ours[c].size(), cases_[c].greedy.size());
      const auto differ = std::ranges::mismatch(ours[c], cases_[c].greedy).in1 - ours[c].begin();
      if (differ == 64) {
        ++equal;
        continue;
      }
      const double gap = cases_[c].gap[static_cast<std::size_t>(differ)];
      widest = std::max(widest, gap);
      EXPECT_LT(gap, margin) << "'" << cases_[c].name << "' leaves the oracle at token " << differ;
    }
    std::printf(
        "greedy: %zu of %zu texts equal the oracle's to the last token; the widest first difference is at %.4f nats\n",
        equal, cases_.size(), widest);
  }

  std::vector<greedy_case> cases_;
};

using texts_of_ids = std::vector<std::vector<token_id>>;

/// What greedy decoding of all prompts in one batch yields.
texts_of_ids decode_greedily(const char* path, const std::vector<greedy_case>& cases) {
  model_run model(path, test_support::default_mode, 256, 12);
  std::vector<plan::sequence> sequences;
  std::vector<std::span<const token_id>> feed;
  for (const greedy_case& c : cases) {
    sequences.push_back(model.new_sequence());
    feed.push_back(c.ids);
  }
  texts_of_ids ours(cases.size());
  for (std::size_t step = 0; step < 64; ++step) {
    model.step(sequences, feed, plan::want::last, [&](std::size_t row, std::size_t, std::span<const float> logits) {
      ours[row].push_back(most_likely_id(logits));
    });
    for (std::size_t c = 0; c < cases.size(); ++c) feed[c] = std::span(ours[c]).last(1);
  }
  return ours;
}

/// What f32 activations and state choose after each prefix of the oracle's text. Up to a first difference that is what
/// greedy decoding yields, for the bits do not depend on chunks or batch.
texts_of_ids choose_along(const char* path, const std::vector<greedy_case>& cases) {
  plan::program_options options = test_support::f32_mode;
  options.max_batch_tokens = 12 * 64;
  model_run model(path, options, 256, 12);
  std::vector<plan::sequence> sequences;
  std::vector<std::span<const token_id>> prompts, feed;
  texts_of_ids texts(cases.size()), ours(cases.size());
  for (std::size_t c = 0; c < cases.size(); ++c) {
    sequences.push_back(model.new_sequence());
    prompts.push_back(std::span(cases[c].ids).first(cases[c].ids.size() - 1));
    texts[c].push_back(cases[c].ids.back());
    texts[c].insert(texts[c].end(), cases[c].greedy.begin(), cases[c].greedy.end() - 1);
    feed.push_back(texts[c]);
  }
  model.step(sequences, prompts, plan::want::none, nullptr);
  model.step(sequences, feed, plan::want::all, [&](std::size_t row, std::size_t, std::span<const float> logits) {
    ours[row].push_back(most_likely_id(logits));
  });
  return ours;
}

TEST_F(smollm2_greedy, texts_leave_the_oracle_s_only_where_it_was_not_sure) {
  auto f32 = std::async(std::launch::async, [&] { return choose_along(path_, cases_); });
  check(decode_greedily(path_, cases_), 0.5);
  check(f32.get(), 0.001);
}

class smollm2_equality : public smollm2 {};

TEST_F(smollm2_equality, of_chunks_batches_runs_and_tables) {
  const auto whole = ids_of(boost::json::parse(read_text(std::string(folder) + "bars.json")).at("ids"));
  ASSERT_EQ(whole.size(), positions);
  for (const plan::program_options& options : {test_support::default_mode, test_support::f32_mode}) {
    std::vector<std::vector<token_id>> texts;
    for (std::ptrdiff_t i = 0; i < 8; ++i)
      texts.emplace_back(whole.begin() + 20 * i, whole.begin() + 20 * i + (i < 7 ? 1 + i % 3 : 8));
    model_run model(path_, options, 64, 8);
    std::vector<sequence_record> alone;
    for (const auto& text : texts) alone.push_back(std::move(model.run(std::span(&text, 1), 512)[0]));
    for (const std::size_t batch : {2, 8}) {
      const auto got = model.run(std::span(texts).last(batch), 4);
      for (std::size_t i = 0; i < batch; ++i) EXPECT_TRUE(got[i] == alone[8 - batch + i]) << "batch of " << batch;
    }
    for (const std::size_t chunk : {1, 7}) {
      EXPECT_TRUE(model.run(std::span(&texts[7], 1), chunk)[0] == alone[7]) << "in chunks of " << chunk;
    }
    for (const kernels::op_table* table : kernels::all_ops()) {
      model_run other(path_, options, 64, 1, *table);
      EXPECT_TRUE(other.run(std::span(&texts[2], 1), 512)[0] == alone[2]) << table->name;
    }
  }
}

}  // namespace
}  // namespace infer::decode
