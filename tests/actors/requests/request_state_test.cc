// The request's rules: leases, credit, exactly-once tokens across losses, and what the client sees.
#include "actors/requests/request_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <variant>

namespace infer::actors {
namespace {

struct recorder final : request_output {
  std::vector<std::string> log;
  msg::acquire acquired;
  msg::open_stream opened;
  std::vector<msg::open_stream> opens;
  std::vector<msg::grant> grants;
  std::vector<msg::close_stream> closes;
  msg::request_failed failed;
  msg::request_finished finished;
  msg::text_transformed transformed;
  std::string text;
  std::vector<msg::text_made> texts;
  std::vector<msg::choice_finished> choices;
  int starts = 0, dones = 0;

  void acquire(const msg::acquire& m) override { acquired = m, log.push_back("acquire"); }
  void release(const msg::release&) override { log.push_back("release"); }
  void encode(const msg::encode_prompt&) override { log.push_back("encode"); }
  void decode_ids(const msg::decode_ids&) override { log.push_back("decode_ids"); }
  void open(const msg::open_stream& m) override { opened = m, opens.push_back(m), log.push_back("open"); }
  void grant(const msg::grant& m) override { grants.push_back(m); }
  void close(const msg::close_stream& m) override { closes.push_back(m), log.push_back("close"); }
  void emit(const msg::request_waiting&) override { log.push_back("waiting"); }
  void emit(const msg::request_started&) override { ++starts; }
  void emit(const msg::text_made& e) override { text += e.text, texts.push_back(e); }
  void emit(const msg::choice_finished& e) override { choices.push_back(e); }
  void emit(const msg::request_finished& e) override { finished = e, log.push_back("finished"); }
  void emit(const msg::request_failed& e) override { failed = e, log.push_back("failed"); }
  void emit(const msg::text_transformed& e) override { transformed = e, log.push_back("transformed"); }
  void done() override { ++dones; }
  std::vector<std::string> take() { return std::exchange(log, {}); }
};

using steps = std::vector<std::string>;

class request : public testing::Test {
 protected:
  void begin(msg::generate g = {}) {
    g.request_id = 5;
    g.prompt.kind = msg::prompt_kind::text;
    state_.emplace(std::move(g), 99, out_, [this] { return now_; });
    state_->start();
  }
  void lease() { state_->granted({5, 1, 1, 3, "m"}); }
  void to_streaming(msg::generate g = {}) {
    begin(std::move(g));
    lease();
    state_->encoded({5, {10, 11, 12}, {}, {}, 100});
    open_all(1);
    out_.take();
  }
  void open_all(std::uint64_t epoch) {
    const auto attempt = out_.opened.attempt;
    for (std::uint32_t c = 0; c <= out_.opened.key.choice; ++c) state_->opened({{5, 3, c}, attempt, epoch, 0});
  }
  void tokens(std::uint32_t first, const std::vector<std::string>& pieces, msg::stream_end end = msg::stream_end::none,
              std::uint64_t epoch = 1, std::uint32_t choice = 0) {
    msg::tokens_made m{{5, 3, choice}, epoch, first, {}, end, {}};
    for (const auto& p : pieces) m.tokens.push_back({static_cast<std::int32_t>(p.empty() ? 0 : p[0]), p, 0.0f, {}});
    state_->made(m);
  }

  recorder out_;
  std::chrono::steady_clock::time_point now_{};
  std::optional<request_state> state_;
};

TEST_F(request, reports_what_was_cached_of_its_prompt_by_the_first_attempt_of_its_first_choice) {
  msg::generate g;
  g.choices = 2;
  g.cache_salt = 12;
  begin(std::move(g));
  lease();
  state_->encoded({5, {10, 11, 12}, {}, {}, 100});
  EXPECT_EQ(out_.opened.cache_salt, 12u);
  state_->opened({{5, 3, 0}, 1, 1, 2});
  state_->opened({{5, 3, 1}, 1, 1, 3});
  tokens(0, {"a"}, msg::stream_end::length);
  tokens(0, {"b"}, msg::stream_end::length, 1, 1);
  EXPECT_EQ(out_.finished.cached_tokens, 2u);
}

TEST_F(request, goes_from_lease_to_tokens_and_releases) {
  begin();
  EXPECT_EQ(out_.take(), steps{"acquire"});
  lease();
  EXPECT_EQ(out_.take(), steps{"encode"});
  state_->encoded({5, {10, 11, 12}, {}, {}, 100});
  EXPECT_EQ(out_.take(), steps{"open"});
  EXPECT_EQ(out_.opened.max_tokens, 97u);
  open_all(1);
  EXPECT_EQ(out_.starts, 0) << "the answer starts with the first token";
  tokens(0, {"a", "b"});
  EXPECT_EQ(out_.starts, 1);
  tokens(2, {"c", ""}, msg::stream_end::stop_token);
  EXPECT_EQ(out_.text, "abc");
  ASSERT_EQ(out_.choices.size(), 1u);
  EXPECT_EQ(out_.choices[0].reason, msg::finish_reason::stop);
  EXPECT_EQ(out_.choices[0].completion_tokens, 4u);
  EXPECT_EQ(out_.finished.completion_tokens, 4u);
  EXPECT_EQ(out_.finished.prompt_tokens, 3u);
  EXPECT_EQ(out_.take(), (steps{"finished", "release"}));
  EXPECT_EQ(out_.dones, 1);
}

TEST_F(request, thinking_is_set_apart_where_a_chat_asks_for_it) {
  for (const bool chat : {true, false}) {
    out_ = {};
    msg::generate g;
    g.request_id = 5;
    g.split_reasoning = true;
    g.prompt.kind = chat ? msg::prompt_kind::chat : msg::prompt_kind::text;
    g.prompt.messages.push_back({"user", "q", {}});
    state_.emplace(std::move(g), 99, out_, [this] { return now_; });
    state_->start();
    lease();
    state_->encoded({5, {10, 11, 12}, {}, {}, 100, true});
    open_all(1);
    tokens(0, {"so", "</think>", "\n\nYes"}, msg::stream_end::length);
    std::string reasoning;
    for (const msg::text_made& event : out_.texts) reasoning += event.reasoning;
    EXPECT_EQ(reasoning, chat ? "so" : "");
    EXPECT_EQ(out_.text, chat ? "Yes" : "so</think>\n\nYes");
    EXPECT_EQ(out_.finished.reasoning_tokens, chat ? 2u : 0u);
    EXPECT_EQ(out_.finished.completion_tokens, 3u);
  }
}

TEST_F(request, tokens_that_show_nothing_do_not_use_up_the_window) {
  msg::generate g;
  g.window = 4;
  to_streaming(std::move(g));
  for (std::uint32_t at = 0; at < 100; ++at) {
    ASSERT_GT(out_.grants.empty() ? out_.opened.upto : out_.grants.back().upto, at) << "the stream waits for ever";
    tokens(at, {""});
  }
  EXPECT_EQ(out_.texts.size(), 0u);
}

TEST_F(request, duplicates_are_dropped_and_a_gap_reopens_with_the_log) {
  to_streaming();
  tokens(0, {"a", "b"});
  tokens(0, {"a", "b"});
  tokens(1, {"b"});
  EXPECT_EQ(out_.text, "ab");
  tokens(5, {"f"});
  EXPECT_EQ(out_.text, "ab");
  EXPECT_EQ(out_.opened.attempt, 2u);
  EXPECT_EQ(out_.opened.accepted_ids, (std::vector<std::int32_t>{'a', 'b'}));
}

TEST_F(request, tokens_of_another_epoch_or_generation_are_dropped) {
  to_streaming();
  tokens(0, {"x"}, msg::stream_end::none, 2);
  state_->made({{5, 4, 0}, 1, 0, {{1, "y", 0.0f, {}}}, msg::stream_end::none, {}});
  EXPECT_EQ(out_.text, "");
  tokens(0, {"a"});
  EXPECT_EQ(out_.text, "a");
}

TEST_F(request, a_lost_stream_is_reopened_with_the_whole_log_and_goes_on) {
  to_streaming();
  tokens(0, {"a", "b"});
  state_->lost({1});
  EXPECT_EQ(out_.opened.accepted_ids, (std::vector<std::int32_t>{'a', 'b'}));
  EXPECT_EQ(out_.opened.prompt_ids, (std::vector<std::int32_t>{10, 11, 12}));
  tokens(2, {"late"});
  EXPECT_EQ(out_.text, "ab") << "the old stream's tokens no longer count";
  state_->opened({{5, 3, 0}, out_.opened.attempt, 2, 0});
  tokens(2, {"c"}, msg::stream_end::length, 2);
  EXPECT_EQ(out_.text, "abc");
  EXPECT_EQ(out_.starts, 1);
  EXPECT_EQ(out_.choices.at(0).reason, msg::finish_reason::length);
}

TEST_F(request, a_loss_of_an_older_epoch_is_ignored) {
  to_streaming();
  state_->lost({1});
  state_->opened({{5, 3, 0}, out_.opened.attempt, 4, 0});
  const auto opens = out_.opens.size();
  state_->lost({3});
  EXPECT_EQ(out_.opens.size(), opens);
}

TEST_F(request, a_log_with_its_end_is_never_reopened) {
  msg::generate g;
  g.choices = 2;
  to_streaming(g);
  tokens(0, {"a"}, msg::stream_end::length, 1, 0);
  const auto opens = out_.opens.size();
  state_->lost({1});
  ASSERT_EQ(out_.opens.size(), opens + 1);
  EXPECT_EQ(out_.opens.back().key.choice, 1u);
}

TEST_F(request, a_port_that_dies_makes_it_lease_again_without_encoding_again) {
  to_streaming();
  tokens(0, {"a"});
  out_.take();
  state_->port_down();
  EXPECT_EQ(out_.take(), (steps{"release", "acquire"}));
  state_->granted({5, 2, 1, 4, "m"});
  EXPECT_EQ(out_.take(), steps{"open"});
  EXPECT_EQ(out_.opened.key.generation, 4u);
  EXPECT_EQ(out_.opened.accepted_ids, std::vector<std::int32_t>{'a'});
}

TEST_F(request, credit_follows_what_the_sink_took) {
  msg::generate g;
  g.window = 8;
  to_streaming(g);
  EXPECT_EQ(out_.opened.upto, 8u);
  tokens(0, {"a", "b", "c", "d", "e", "f", "g", "h"});
  EXPECT_TRUE(out_.grants.empty()) << "nothing was taken yet";
  state_->taken({5, 0, 2});
  EXPECT_TRUE(out_.grants.empty() || out_.grants.back().upto <= 10u);
  state_->taken({5, 0, 8});
  ASSERT_FALSE(out_.grants.empty());
  EXPECT_EQ(out_.grants.back().upto, 16u);
  const auto grants = out_.grants.size();
  state_->taken({5, 0, 8});
  state_->taken({5, 0, 3});
  EXPECT_EQ(out_.grants.size(), grants) << "repeated and older reports change nothing";
}

TEST_F(request, a_held_back_stop_string_does_not_starve_the_stream) {
  msg::generate g;
  g.window = 4;
  g.stop = {"0123456789abcdef"};
  to_streaming(g);
  tokens(0, {"0", "1", "2", "3"});
  EXPECT_TRUE(out_.texts.empty());
  ASSERT_FALSE(out_.grants.empty());
  EXPECT_GE(out_.grants.back().upto, 8u);
}

TEST_F(request, a_stop_string_closes_the_stream_with_what_counts) {
  msg::generate g;
  g.stop = {"STOP"};
  to_streaming(g);
  tokens(0, {"a", "ST", "OP", "never"});
  EXPECT_EQ(out_.text, "a");
  ASSERT_EQ(out_.closes.size(), 1u);
  EXPECT_EQ(out_.closes[0].accepted, 3u);
  EXPECT_EQ(out_.choices.at(0).stop_text, "STOP");
  EXPECT_EQ(out_.dones, 1);
}

TEST_F(request, cancel_closes_releases_and_says_nothing_more) {
  to_streaming();
  tokens(0, {"a"});
  out_.take();
  state_->cancel();
  EXPECT_EQ(out_.take(), (steps{"close", "release"}));
  EXPECT_EQ(out_.dones, 1);
  tokens(1, {"b"});
  state_->lost({1});
  state_->cancel();
  EXPECT_EQ(out_.take(), steps{});
  EXPECT_EQ(out_.text, "a");
}

TEST_F(request, cancel_while_it_waits_for_a_model_gives_nothing_back) {
  begin();
  out_.take();
  state_->cancel();
  EXPECT_EQ(out_.take(), steps{});
  EXPECT_EQ(out_.dones, 1);
  state_->granted({5, 1, 1, 3, "m"});
  EXPECT_EQ(out_.take(), steps{"release"}) << "a lease that crossed the cancel is not kept";
}

TEST_F(request, refusals_become_one_failure) {
  begin();
  state_->refused({5, msg::refusal::model_not_found, "no such model", 0});
  EXPECT_EQ(out_.failed.code, msg::refusal::model_not_found);
  EXPECT_EQ(out_.failed.param, "model");
  EXPECT_EQ(out_.dones, 1);
}

TEST_F(request, a_fault_of_its_stream_fails_it_and_closes_the_other_choices) {
  msg::generate g;
  g.choices = 2;
  to_streaming(g);
  state_->made({{5, 3, 0}, 1, 0, {}, msg::stream_end::fault, "not finite"});
  EXPECT_EQ(out_.failed.message, "not finite");
  EXPECT_EQ(out_.closes.size(), 2u);
}

TEST_F(request, a_new_zoo_is_told_of_the_lease_or_asked_again) {
  begin();
  out_.take();
  msg::announce a;
  EXPECT_FALSE(state_->zoo_restarted(a));
  EXPECT_EQ(out_.take(), steps{"acquire"});
  lease();
  EXPECT_TRUE(state_->zoo_restarted(a));
  EXPECT_EQ(a.lease_id, 1u);
  EXPECT_EQ(a.generation, 3u);
}

TEST_F(request, a_second_grant_is_given_back) {
  to_streaming();
  state_->granted({5, 9, 1, 3, "m"});
  EXPECT_EQ(out_.take(), steps{"release"});
}

TEST_F(request, zero_tokens_finish_by_length_without_a_stream) {
  msg::generate g;
  g.max_tokens = 0;
  begin(g);
  lease();
  state_->encoded({5, {1}, {}, {}, 100});
  EXPECT_TRUE(out_.opens.empty());
  EXPECT_EQ(out_.starts, 1);
  EXPECT_EQ(out_.choices.at(0).reason, msg::finish_reason::length);
  EXPECT_EQ(out_.dones, 1);
}

TEST_F(request, a_drawn_seed_is_used_and_a_given_one_kept) {
  to_streaming();
  EXPECT_EQ(out_.opened.sampling.seed, 99u);
  msg::generate g;
  g.sampling.seed = 4;
  g.seed_given = true;
  out_ = {};
  to_streaming(g);
  EXPECT_EQ(out_.opened.sampling.seed, 4u);
}

TEST_F(request, transforming_text_ends_with_its_answer) {
  msg::generate g;
  g.task = msg::request_task::encode;
  begin(g);
  lease();
  state_->encoded({5, {1, 2}, {}, {}, 100});
  EXPECT_EQ(out_.take(), (steps{"acquire", "encode", "transformed", "release"}));
}

TEST_F(request, what_the_sampler_needs_travels_with_the_log) {
  to_streaming();
  EXPECT_EQ(out_.opened.sampler_state.value(), 0.0f);
  state_->made({{5, 3, 0}, 1, 0, {{'a', "a", 0.0f, {}, 4.5f}, {'b', "b", 0.0f, {}, 4.25f}}, msg::stream_end::none, {}});
  state_->lost({1});
  EXPECT_EQ(out_.opened.sampler_state.value(), 4.25f);
}

TEST_F(request, several_prompts_are_encoded_in_turn_and_their_choices_counted_on) {
  msg::generate g;
  g.choices = 2;
  g.more_prompts.resize(1);
  g.more_prompts[0].kind = msg::prompt_kind::text;
  begin(std::move(g));
  lease();
  EXPECT_EQ(out_.take(), (steps{"acquire", "encode"}));
  state_->encoded({5, {10}, {}, {}, 100});
  EXPECT_EQ(out_.take(), steps{"encode"});
  state_->encoded({5, {20, 21}, {}, {}, 100});
  ASSERT_EQ(out_.opens.size(), 4u);
  for (std::uint32_t c = 0; c < 4; ++c) {
    EXPECT_EQ(out_.opens[c].key.choice, c);
    EXPECT_EQ(out_.opens[c].prompt_ids.size(), c < 2 ? 1u : 2u);
    EXPECT_EQ(out_.opens[c].sampling.choice, c % 2) << "a prompt's choices are drawn as if it were alone";
    state_->opened({{5, 3, c}, 1, 1, c});
  }
  for (std::uint32_t c = 0; c < 4; ++c) tokens(0, {"x"}, msg::stream_end::length, 1, c);
  EXPECT_EQ(out_.finished.prompt_tokens, 3u);
  EXPECT_EQ(out_.finished.cached_tokens, 2u) << "of the first choice of each prompt";
  EXPECT_EQ(out_.finished.completion_tokens, 4u);
}

TEST_F(request, a_prompt_at_fault_is_named_by_its_place) {
  msg::generate g;
  g.more_prompts.resize(1);
  begin(std::move(g));
  lease();
  state_->encoded({5, {10}, {}, {}, 2});
  state_->encoded({5, {1, 2, 3}, {}, {}, 2});
  EXPECT_EQ(out_.failed.code, msg::refusal::context_length_exceeded);
  EXPECT_EQ(out_.failed.param, "prompt[1]");
}

TEST_F(request, so_many_choices_are_open_at_once_and_the_rest_follow) {
  msg::generate g;
  g.choices = 100;
  begin(std::move(g));
  lease();
  state_->encoded({5, {10}, {}, {}, 100});
  const auto opened = out_.opens.size();
  EXPECT_LT(opened, 100u);
  for (std::uint32_t c = 0; c < 100; ++c) {
    state_->opened({{5, 3, c}, 1, 1, 0});
    tokens(0, {"x"}, msg::stream_end::length, 1, c);
    EXPECT_LE(out_.opens.size(), opened + c + 1);
  }
  EXPECT_EQ(out_.opens.size(), 100u);
  EXPECT_EQ(out_.choices.size(), 100u);
  EXPECT_EQ(out_.dones, 1);
}

TEST_F(request, an_echo_comes_before_the_text_of_every_choice) {
  msg::generate g;
  g.choices = 2;
  g.echo = true;
  g.prompt.text = "once ";
  to_streaming(std::move(g));
  tokens(0, {"a"}, msg::stream_end::length, 1, 1);
  tokens(0, {"b"}, msg::stream_end::length, 1, 0);
  ASSERT_EQ(out_.texts.size(), 4u);
  EXPECT_EQ(out_.text, "once aonce b");
  EXPECT_EQ(out_.texts[0].choice, 1u);
  EXPECT_EQ(out_.texts[0].upto, 0u);
}

msg::tokens_made with_prompt(std::uint32_t choice, const std::string& piece, msg::stream_end end) {
  msg::tokens_made m{{5, 3, choice}, 1, 0, {{1, piece, -1.0f, {}}}, end, {}};
  m.prompt = {{10, "o", std::numeric_limits<float>::quiet_NaN(), {}}, {11, "nce ", -2.0f, {}}};
  return m;
}

TEST_F(request, an_echo_that_many_choices_make_huge_is_refused) {
  for (const std::uint32_t choices : {64u, 65u, 1u}) {
    out_ = {};
    msg::generate g;
    g.choices = choices;
    g.echo = true;
    g.prompt.text = std::string(4 << 20, 'x');
    begin(std::move(g));
    lease();
    state_->encoded({5, {10, 11, 12}, {}, {}, 100});
    EXPECT_EQ(out_.failed.param, choices > 64 ? "echo" : "") << choices;
    EXPECT_EQ(out_.opens.empty(), choices > 64) << choices;
  }
  msg::generate g;
  g.choices = 128;
  g.echo = g.logprobs = true;
  begin(std::move(g));
  lease();
  state_->encoded({5, std::vector<std::int32_t>(50000, 1), {}, {}, 60000});
  EXPECT_EQ(out_.failed.code, msg::refusal::invalid_value) << "its tokens count where they are reported";
}

TEST_F(request, an_echo_with_logprobs_waits_for_the_scores_of_the_first_choice) {
  msg::generate g;
  g.choices = 3;
  g.echo = g.logprobs = true;
  g.prompt.text = "once ";
  begin(std::move(g));
  lease();
  state_->encoded({5, {10, 11}, {}, {}, 100});
  ASSERT_EQ(out_.opens.size(), 1u);
  EXPECT_TRUE(out_.opens[0].score_prompt);
  state_->opened({{5, 3, 0}, 1, 1, 0});
  state_->made(with_prompt(0, "a", msg::stream_end::length));
  ASSERT_EQ(out_.opens.size(), 3u);
  EXPECT_FALSE(out_.opens[1].score_prompt);
  ASSERT_EQ(out_.texts.size(), 2u);
  EXPECT_EQ(out_.texts[0].text, "once ");
  ASSERT_EQ(out_.texts[0].tokens.size(), 2u);
  EXPECT_TRUE(std::isnan(out_.texts[0].tokens[0].logprob.value()));
  for (std::uint32_t c = 1; c < 3; ++c) {
    state_->opened({{5, 3, c}, 1, 1, 0});
    tokens(0, {"b"}, msg::stream_end::length, 1, c);
    EXPECT_EQ(out_.texts[2 * c].tokens.size(), 2u);
  }
  EXPECT_EQ(out_.dones, 1);
}

TEST_F(request, scores_without_any_token_come_with_one_that_is_not_shown) {
  msg::generate g;
  g.echo = g.logprobs = true;
  g.max_tokens = 0;
  g.prompt.text = "once ";
  begin(std::move(g));
  lease();
  state_->encoded({5, {10, 11}, {}, {}, 100});
  EXPECT_EQ(out_.opened.max_tokens, 1u);
  state_->opened({{5, 3, 0}, 1, 1, 0});
  state_->made(with_prompt(0, "a", msg::stream_end::length));
  EXPECT_EQ(out_.text, "once ");
  EXPECT_EQ(out_.finished.completion_tokens, 0u);
  EXPECT_EQ(out_.choices.at(0).reason, msg::finish_reason::length);
}

TEST_F(request, choices_without_any_token_take_the_scores_of_the_first_and_no_stream) {
  msg::generate g;
  g.choices = 2;
  g.echo = g.logprobs = true;
  g.prompt.text = "once ";
  begin(std::move(g));
  lease();
  state_->encoded({5, {10, 11}, {}, {}, 2});  // as many as the context holds
  EXPECT_EQ(out_.opened.max_tokens, 1u);
  state_->opened({{5, 3, 0}, 1, 1, 0});
  state_->made(with_prompt(0, "a", msg::stream_end::length));
  EXPECT_EQ(out_.opens.size(), 1u);
  ASSERT_EQ(out_.texts.size(), 2u);
  for (std::uint32_t c = 0; c < 2; ++c) {
    EXPECT_EQ(out_.texts[c].choice, c);
    EXPECT_EQ(out_.texts[c].text, "once ");
    EXPECT_EQ(out_.texts[c].tokens.size(), 2u);
  }
  EXPECT_EQ(out_.choices.size(), 2u);
  EXPECT_EQ(out_.finished.completion_tokens, 0u);
  EXPECT_EQ(out_.dones, 1);
}

TEST_F(request, embeddings_of_all_inputs_come_in_order) {
  msg::generate g;
  g.task = msg::request_task::embed;
  g.pooling = msg::pooling::last;
  g.more_prompts.resize(1);
  begin(std::move(g));
  lease();
  state_->encoded({5, {10, 11}, {}, {}, 2});
  state_->encoded({5, {12}, {}, {}, 2});
  ASSERT_EQ(out_.opens.size(), 2u);
  EXPECT_EQ(out_.opens[0].pooling, msg::pooling::last);
  for (const std::uint32_t c : {1u, 0u}) {
    state_->opened({{5, 3, c}, 1, 1, 0});
    msg::tokens_made m{{5, 3, c}, 1, 0, {}, msg::stream_end::length, {}};
    m.embedding = {static_cast<float>(c), 0.5f};
    state_->made(m);
  }
  EXPECT_EQ(out_.transformed.prompt_tokens, 3u);
  ASSERT_EQ(out_.transformed.embeddings.size(), 4u);
  EXPECT_EQ(out_.transformed.embeddings[0].value(), 0.0f);
  EXPECT_EQ(out_.transformed.embeddings[2].value(), 1.0f);
  EXPECT_EQ(out_.dones, 1);
}

}  // namespace
}  // namespace infer::actors
