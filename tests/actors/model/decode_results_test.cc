// What a stream yields beside plain tokens: sampler states that a log goes on from, scores of prompts, embeddings.
// Mirrors: prompt_results.cc, sampling_of.cc
#include <gtest/gtest.h>

#include <cmath>

#include "actors/model/prompt_results.h"
#include "actors/model/sampling_of.h"
#include "engine/decode/repetition.h"
#include "tests/actors/model/batch_fixture.h"

namespace infer::actors {
namespace {

msg::sampling everything(std::uint8_t mirostat) {
  msg::sampling s;
  s.temperature = 1.2f;
  s.seed = 5;
  s.ignore_end = true;
  s.repeat_penalty = 1.3f;
  s.presence_penalty = 0.4f;
  s.frequency_penalty = 0.2f;
  s.dry_multiplier = 0.9f;
  s.mirostat = mirostat;
  s.mirostat_tau = 3.0f;
  if (mirostat == 0) {
    s.typical_p = 0.9f;
    s.xtc_probability = 0.5f;
    s.dynatemp_range = 0.5f;
  }
  return s;
}

TEST_F(batch, a_stream_goes_on_from_any_place_of_its_log_with_the_same_tokens_whatever_its_sampling) {
  load();
  for (const std::uint8_t mirostat : {0, 1, 2}) {
    SCOPED_TRACE(int{mirostat});
    const auto asked = [&] {
      auto m = stream(0, 12, 24);
      m.sampling = everything(mirostat);
      return m;
    };
    out_ = {};
    open(asked());
    run();
    const auto whole = out_.tokens[0];
    ASSERT_EQ(whole.size(), 24u);
    for (std::size_t cut = 1; cut < whole.size(); ++cut) {
      out_ = {};
      auto m = asked();
      for (std::size_t i = 0; i < cut; ++i) m.accepted_ids.push_back(whole[i].id);
      m.sampler_state = whole[cut - 1].sampler_state;
      open(m);
      run();
      ASSERT_EQ(out_.tokens[0].size(), whole.size() - cut);
      for (std::size_t i = cut; i < whole.size(); ++i) {
        ASSERT_EQ(out_.tokens[0][i - cut].id, whole[i].id) << "cut at " << cut << " token " << i;
        ASSERT_EQ(out_.tokens[0][i - cut].sampler_state, whole[i].sampler_state) << cut;
      }
    }
    EXPECT_EQ(whole[3].sampler_state.value() != 0, mirostat != 0);
  }
}

TEST_F(batch, a_parked_stream_keeps_its_sampler_state) {
  load(3, 0, 1280);
  const auto asked = [&](std::uint32_t choice) {
    auto m = stream(choice, 60, 600);
    m.sampling = everything(2);
    m.sampling.choice = choice;
    return m;
  };
  std::map<std::uint32_t, std::vector<std::int32_t>> alone;
  for (std::uint32_t choice = 0; choice < 3; ++choice) {
    open(asked(choice));
    run();
  }
  alone = std::exchange(out_.ids, {});
  for (std::uint32_t choice = 0; choice < 3; ++choice) open(asked(choice));
  for (int i = 0; i < 20000 && core_->counters.streams_open > 0; ++i) {
    now_ += std::chrono::microseconds(500);
    batch_->step();
  }
  EXPECT_GT(core_->counters.parkings.load(), 0u);
  EXPECT_EQ(out_.ids, alone);
}

TEST_F(batch, penalties_see_the_prompt_and_min_tokens_forbids_the_end) {
  load();
  auto m = stream(0, 12, 5);
  m.sampling.repeat_penalty = 1.0f;
  open(m);
  run();
  const auto plain = out_.ids[0];
  out_ = {};
  m.sampling.biases = {{plain[0], {}, -std::numeric_limits<float>::infinity()}};
  open(m);
  run();
  EXPECT_NE(out_.ids[0][0], plain[0]);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    out_ = {};
    auto ends = stream(0, 12, 60);
    ends.sampling.temperature = 3.0f;
    ends.sampling.ignore_end = false;
    ends.sampling.min_tokens = 20;
    ends.sampling.seed = seed;
    open(ends);
    run();
    ASSERT_GE(out_.ids[0].size(), 20u) << seed;
  }
}

TEST_F(batch, scores_of_a_prompt_are_those_of_its_prefixes) {
  load();
  const auto vocabulary = core_->model.plan.vocabulary;
  auto scored = stream(0, 40, 3);
  scored.score_prompt = true;
  scored.sampling.top_logprobs = 2;
  const auto expect_scores = [&] {
    const auto& got = out_.prompts[0];
    ASSERT_EQ(got.size(), 40u);
    EXPECT_EQ(got[0].id, scored.prompt_ids[0]);
    EXPECT_TRUE(std::isnan(got[0].logprob.value())) << "the first follows nothing";
    for (std::uint32_t length = 1; length < 40; ++length) {
      auto prefix = stream(1, 0, 1);
      prefix.prompt_ids.assign(scored.prompt_ids.begin(), scored.prompt_ids.begin() + length);
      prefix.sampling.top_logprobs = vocabulary;
      out_.tokens.clear();
      open(prefix);
      run();
      const msg::raw_token& all = out_.tokens[1].at(0);
      const auto at = std::ranges::find(all.top_ids, scored.prompt_ids[length]) - all.top_ids.begin();
      EXPECT_EQ(got[length].id, scored.prompt_ids[length]);
      ASSERT_EQ(got[length].logprob, all.top_logprobs[static_cast<std::size_t>(at)]) << length;
      ASSERT_EQ(got[length].top_ids, std::vector<std::int32_t>(all.top_ids.begin(), all.top_ids.begin() + 2));
    }
  };
  open(scored);
  run();
  EXPECT_EQ(out_.ids[0].size(), 3u);
  expect_scores();
  // What others computed of it does not make its own scores fewer.
  out_ = {};
  open(scored);
  run();
  EXPECT_EQ(out_.cached[0], 0u);
  expect_scores();
}

TEST_F(batch, a_prompt_that_fills_the_context_has_scores_and_no_room_for_more) {
  load(2, std::uint64_t{1} << 30, 64);
  auto scored = stream(0, 64, 1);
  open(scored);
  ASSERT_EQ(out_.refusals.size(), 1u);
  EXPECT_EQ(out_.refusals[0].code, msg::refusal::context_length_exceeded);
  scored.score_prompt = true;
  open(scored);
  run();
  EXPECT_EQ(out_.refusals.size(), 1u) << out_.refusals.back().message;
  EXPECT_EQ(out_.prompts[0].size(), 64u);
  EXPECT_EQ(out_.ends[0], msg::stream_end::length);
  auto longer = stream(1, 65, 1);
  longer.score_prompt = true;
  open(longer);
  EXPECT_EQ(out_.refusals.size(), 2u);
}

/// Hidden states straight from the executor.
struct hidden_sink final : plan::row_sink {
  void take(std::uint32_t, std::uint32_t, std::span<const float>) override { ++logits; }
  void take_hidden(std::uint32_t row, std::uint32_t position, std::span<const float> values) override {
    rows.resize(std::max<std::size_t>(rows.size(), row + 1));
    EXPECT_EQ(rows[row].size(), position);
    rows[row].emplace_back(values.begin(), values.end());
  }
  std::vector<std::vector<std::vector<float>>> rows;
  int logits = 0;
};

std::vector<float> unit(std::vector<double> values) {
  double squares = 0;
  for (const double x : values) squares += x * x;
  std::vector<float> out;
  for (const double x : values) out.push_back(static_cast<float>(x / std::sqrt(squares)));
  return out;
}

TEST_F(batch, embeddings_are_pooled_hidden_states_of_length_1) {
  load();
  const auto asked = stream(0, 70, 1);
  const std::vector<token_id> ids(asked.prompt_ids.begin(), asked.prompt_ids.end());
  std::vector<std::vector<float>> hidden;
  {
    plan::sequence sequence(core_->pages, core_->model.plan.groups, core_->context);
    for (std::size_t from = 0; from < ids.size(); from += 7) {
      const auto part = std::span(ids).subspan(from, std::min<std::size_t>(7, ids.size() - from));
      ASSERT_TRUE(sequence.reserve(static_cast<std::uint32_t>(part.size()), 0));
      hidden_sink sink;
      const plan::batch_row row{&sequence, part, plan::want::hidden, nullptr};
      auto ticket = core_->executor->submit(*core_->program, std::span(&row, 1));
      ASSERT_TRUE(ticket && core_->executor->collect(*core_->program, ticket.value(), sink));
      EXPECT_EQ(sink.logits, 0);
      hidden.insert(hidden.end(), sink.rows[0].begin(), sink.rows[0].end());
    }
  }
  ASSERT_EQ(hidden.size(), ids.size());
  std::vector<double> mean(hidden[0].size(), 0.0);
  for (const auto& position : hidden)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += position[i];
  const std::pair<msg::pooling, std::vector<float>> expected[] = {
      {msg::pooling::mean, unit(mean)},
      {msg::pooling::cls, unit({hidden.front().begin(), hidden.front().end()})},
      {msg::pooling::last, unit({hidden.back().begin(), hidden.back().end()})}};
  std::uint32_t choice = 0;
  for (const auto& [pooling, values] : expected) {
    auto m = stream(choice, 0, 1, 1);
    m.prompt_ids = asked.prompt_ids;
    m.pooling = pooling;
    open(m);
    open(stream(9, 30, 10));  // a neighbour that decodes
    run();
    EXPECT_TRUE(out_.ids[choice].empty());
    EXPECT_EQ(out_.ends[choice], msg::stream_end::length);
    ASSERT_EQ(out_.embeddings[choice].size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(out_.embeddings[choice][i].value(), values[i]) << choice << " " << i;
    ++choice;
  }
}

TEST_F(batch, rows_with_hidden_states_and_rows_with_logits_share_a_step) {
  load();
  open(stream(0, 20, 6));
  run();
  const auto alone = out_.tokens[0];
  out_ = {};
  for (std::uint32_t choice = 1; choice < 4; ++choice) {
    auto m = stream(choice, 5 + choice, 1, 1);
    m.pooling = msg::pooling::mean;
    if (choice == 2) open(stream(0, 20, 6));
    open(m);
  }
  run();
  ASSERT_EQ(out_.tokens[0].size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(out_.tokens[0][i].id, alone[i].id);
    EXPECT_EQ(out_.tokens[0][i].logprob, alone[i].logprob);
  }
  EXPECT_EQ(out_.embeddings.size(), 3u);
}

TEST_F(batch, slots_show_the_streams_that_run) {
  load();
  open(stream(3, 20, 50));
  batch_->step();
  batch_->step();
  const slot_counters& slot = core_->slots[3];
  EXPECT_TRUE(slot.busy);
  EXPECT_EQ(slot.prompt, 20u);
  EXPECT_EQ(slot.choice, 3u);
  EXPECT_EQ(slot.held, 20 + slot.made - 1);
  run();
  EXPECT_FALSE(slot.busy);
}

TEST_F(batch, sampling_is_bound_to_the_vocabulary) {
  load();
  msg::sampling from;
  from.stages = "tkz";
  from.biases = {{5, {}, 1.5f}, {-1, "ab", -2.0f}};
  from.dry_multiplier = 1.0f;
  from.dry_breakers = {"b"};
  const auto to = sampling_of(from, *core_);
  EXPECT_EQ(to.stages,
            (std::vector<decode::sampling_stage>{decode::sampling_stage::temperature, decode::sampling_stage::top_k}));
  ASSERT_EQ(to.biases.size(), 3u);
  EXPECT_EQ(to.biases[1].id, 3 + 'a');
  EXPECT_EQ(to.biases[2].id, 3 + 'b');
  EXPECT_EQ(to.biases[2].bias, -2.0f);
  EXPECT_TRUE(to.dry_breakers->holds(3 + 'b'));
  EXPECT_FALSE(to.dry_breakers->holds(3 + 'a'));
  from.dry_multiplier = 0.0f;
  from.stages = msg::sampling::default_stages;
  EXPECT_EQ(sampling_of(from, *core_).stages, decode::default_stages);
  EXPECT_EQ(sampling_of(from, *core_).dry_breakers, nullptr);
}

}  // namespace
}  // namespace infer::actors
