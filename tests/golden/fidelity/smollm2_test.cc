// SmolLM2's greedy texts against Hugging Face's, and the equality of the real model's bits. Needs the model file that
// INFER_TEST_MODEL names; the golden data is made by tests/golden/oracle/smollm2_greedy.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <string>

#include "tests/support/model_run.h"

namespace infer::decode {
namespace {

using test_support::model_run;
using test_support::sequence_record;

constexpr const char* folder = "tests/golden/fidelity/smollm2/";

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
  ASSERT_GE(whole.size(), 200u);
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
