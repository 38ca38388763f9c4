// The running batch: admission, credit, cancel, ends, and that nothing in it depends on who runs beside it.
// Mirrors: footprint.cc
#include "actors/model/decode_state.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/actors/model/batch_fixture.h"

namespace infer::actors {
namespace {

TEST_F(batch, a_stream_runs_to_its_length_and_gives_its_pages_back) {
  load();
  open(stream(0, 40, 20));
  run();
  EXPECT_EQ(out_.ids[0].size(), 20u);
  EXPECT_EQ(out_.ends[0], msg::stream_end::length);
  EXPECT_EQ(unused_pages(), core_->pages.pages());
  EXPECT_EQ(core_->counters.streams_open.load(), 0u);
  EXPECT_FALSE(batch_->has_work());
}

TEST_F(batch, makes_nothing_beyond_its_credit) {
  load();
  open(stream(0, 10, 30, 5));
  run();
  EXPECT_EQ(out_.ids[0].size(), 5u);
  batch_->grant({{1, 1, 0}, 1, 9});
  run();
  EXPECT_EQ(out_.ids[0].size(), 9u);
  batch_->grant({{1, 1, 0}, 1, 7});
  run();
  EXPECT_EQ(out_.ids[0].size(), 9u) << "an older grant changes nothing";
}

TEST_F(batch, without_credit_not_even_the_first_token_is_made) {
  load();
  open(stream(0, 10, 30, 0));
  run();
  EXPECT_TRUE(out_.ids[0].empty());
  batch_->grant({{1, 1, 0}, 1, 1});
  run();
  EXPECT_EQ(out_.ids[0].size(), 1u);
}

TEST_F(batch, streams_make_the_same_tokens_alone_and_together) {
  load();
  std::map<std::uint32_t, std::vector<std::int32_t>> alone;
  for (std::uint32_t c = 0; c < 4; ++c) {
    open(stream(c, 5 + 30 * c, 15));
    run();
  }
  alone = std::exchange(out_.ids, {});
  for (std::uint32_t c = 0; c < 4; ++c) open(stream(c, 5 + 30 * c, 15));
  run();
  EXPECT_EQ(out_.ids, alone);
}

TEST_F(batch, a_stream_that_goes_on_from_its_log_makes_the_same_rest) {
  load();
  open(stream(0, 12, 20));
  run();
  const auto whole = out_.ids[0];
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    out_.ids.clear();
    auto m = stream(0, 12, 20);
    m.accepted_ids.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
    open(m);
    run();
    ASSERT_EQ(out_.ids[0], std::vector<std::int32_t>(whole.begin() + static_cast<std::ptrdiff_t>(cut), whole.end()))
        << cut;
  }
}

TEST_F(batch, opening_twice_is_once_and_a_new_attempt_replaces) {
  load();
  auto m = stream(0, 12, 8);
  open(m);
  open(m);
  run();
  EXPECT_EQ(out_.ids[0].size(), 8u);
  out_.ids.clear();
  open(m);
  batch_->step();
  m.attempt = 2;
  open(m);
  run();
  EXPECT_EQ(unused_pages(), core_->pages.pages());
}

TEST_F(batch, a_set_flag_ends_the_stream_and_frees_its_pages) {
  load();
  open(stream(0, 30, 100));
  open(stream(1, 5, 20));
  for (int i = 0; i < 8; ++i) batch_->step();
  core_->cancel[0].set();
  run();
  EXPECT_LT(out_.ids[0].size(), 100u);
  EXPECT_EQ(out_.ends.count(0), 0u);
  EXPECT_EQ(out_.ids[1].size(), 20u);
  batch_->close({{1, 1, 0}, 1, 0});
  EXPECT_EQ(unused_pages(), core_->pages.pages());
}

TEST_F(batch, a_flag_set_while_the_stream_waits_for_a_slot_frees_its_place) {
  load(1);
  open(stream(0, 10, 30));
  open(stream(1, 10, 5));
  open(stream(2, 10, 5));
  batch_->step();
  core_->cancel[1].set();
  run();
  EXPECT_EQ(out_.ids.count(1), 0u);
  EXPECT_EQ(out_.ids[2].size(), 5u);
}

TEST_F(batch, a_cancel_in_the_middle_of_a_step_stops_within_one_layer) {
  auto layers_after = std::make_shared<std::set<std::uint16_t>>();
  auto armed = std::make_shared<bool>(false);
  std::weak_ptr<model_core>* holder = new std::weak_ptr<model_core>();
  hooks_.tap = [=](const plan::op& o) {
    if (!*armed) return;
    if (const auto core = holder->lock(); core && !core->cancel[0].is_set())
      core->cancel[0].set();
    else
      layers_after->insert(o.layer);
  };
  load();
  *holder = core_;
  open(stream(0, 30, 10));
  *armed = true;
  batch_->step();
  *armed = false;
  EXPECT_LE(layers_after->size(), 1u) << "only the layer under way is finished";
  EXPECT_EQ(core_->counters.rows_cancelled.load(), 1u);
  batch_->close({{1, 1, 0}, 1, 0});
  EXPECT_EQ(unused_pages(), core_->pages.pages());
  delete holder;
}

TEST_F(batch, prompts_are_prefilled_in_pieces_beside_others_that_decode) {
  load();
  open(stream(0, 4, 60));
  batch_->step();
  const auto before = out_.ids[0].size();
  open(stream(1, 200, 4));
  for (int i = 0; i < 4; ++i) batch_->step();
  EXPECT_GE(out_.ids[0].size(), before + 3) << "decode rows are in every step";
  run();
  EXPECT_EQ(out_.ids[1].size(), 4u);
}

TEST_F(batch, refuses_what_cannot_work_with_a_reason) {
  load();
  open(stream(0, 0, 5));
  open(stream(1, 300, 5));
  auto bad = stream(2, 3, 5);
  bad.prompt_ids[1] = 99999;
  open(bad);
  ASSERT_EQ(out_.refusals.size(), 3u);
  EXPECT_EQ(out_.refusals[1].code, msg::refusal::context_length_exceeded);
  EXPECT_NE(out_.refusals[2].message.find("99999"), std::string::npos);
  EXPECT_FALSE(batch_->has_work());
}

TEST_F(batch, memory_for_one_sequence_serves_many_one_after_the_other) {
  load(8, 0);
  EXPECT_EQ(core_->pages.pages(), 8u);
  for (std::uint32_t c = 0; c < 6; ++c) open(stream(c, 100, 50));
  run(5000);
  for (std::uint32_t c = 0; c < 6; ++c) EXPECT_EQ(out_.ids[c].size(), 50u) << c;
}

TEST_F(batch, an_end_of_generation_token_ends_the_stream_unless_ignored) {
  load();
  // Find what the model says after some prompt and call it the end by asking for it.
  for (std::uint32_t attempt = 0; attempt < 200; ++attempt) {
    auto m = stream(0, 3 + attempt % 40, 200);
    m.prompt_ids[0] = static_cast<std::int32_t>(3 + attempt);
    m.sampling.ignore_end = false;
    m.sampling.temperature = 1.5f;
    m.sampling.seed = attempt;
    out_ = {};
    open(m);
    run();
    if (out_.ends[0] != msg::stream_end::stop_token) continue;
    EXPECT_TRUE(core_->tokenizer->is_end_of_generation(out_.ids[0].back()));
    EXPECT_LT(out_.ids[0].size(), 200u);
    return;
  }
  FAIL() << "no prompt led to an end token";
}

TEST(footprint, names_of_types_are_checked) {
  msg::model_source source;
  source.key_type = "q3_x";
  EXPECT_FALSE(options_of(source));
  source.key_type = "f32";
  source.activations = "f16";
  EXPECT_FALSE(options_of(source));
  source.activations = "f32";
  EXPECT_TRUE(options_of(source));
}

}  // namespace
}  // namespace infer::actors
