// Every kind of request through the whole tree: all of sampling across crashes, several prompts, echoes with scores,
// embeddings, infills, rendering only.
#include <cmath>

#include "tests/actors/node_fixture.h"

namespace infer {
namespace {

using test_support::node_test;
using test_support::recording;

msg::sampling much_of_it(std::uint8_t mirostat) {
  msg::sampling s;
  s.temperature = 1.1f;
  s.seed = 21;
  s.ignore_end = true;
  s.repeat_penalty = 1.2f;
  s.frequency_penalty = 0.3f;
  s.dry_multiplier = 0.8f;
  s.mirostat = mirostat;
  s.mirostat_tau = 3.5f;
  s.typical_p = 0.95f;
  s.xtc_probability = 0.4f;
  s.dynatemp_range = 0.4f;
  return s;
}

class kind_of_sampling : public node_test, public testing::WithParamInterface<std::uint8_t> {};

TEST_P(kind_of_sampling, a_decode_that_is_killed_before_any_token_changes_no_byte) {
  auto armed = std::make_shared<bool>(false);
  auto position = std::make_shared<std::uint32_t>(0);
  hooks_.before_step = [armed, position](std::span<const actors::journal_row> rows) {
    for (const auto& row : rows) {
      if (!*armed || row.next_index != *position) continue;
      *armed = false;
      throw std::runtime_error("one-shot crash");
    }
  };
  start();
  const auto request = [&](const std::string& prompt) {
    auto g = text_request(prompt, 24);
    g.sampling = much_of_it(GetParam());
    g.seed_given = true;
    g.choices = 2;
    return g;
  };
  const auto whole = ask(request("a text to go on from"));
  ASSERT_TRUE(whole->ok()) << whole->failed.message;
  for (*position = 0; *position < 24; ++*position) {
    *armed = true;
    const auto killed = ask(request("a text to go on from"));
    ASSERT_TRUE(killed->ok()) << killed->failed.message;
    EXPECT_FALSE(*armed) << "the crash never came";
    ASSERT_EQ(killed->choice_text, whole->choice_text) << "killed before token " << *position;
    EXPECT_EQ(killed->starts, 1u);
    clock_.advance(std::chrono::seconds(10));
  }
}

INSTANTIATE_TEST_SUITE_P(all, kind_of_sampling, testing::Values(std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}));

TEST_F(node_test, several_prompts_in_one_request_are_answered_as_if_alone) {
  start();
  auto g = text_request("first", 8);
  g.sampling.temperature = 1.0f;
  g.sampling.seed = 4;
  g.seed_given = true;
  g.choices = 2;
  const auto first = ask(g);
  g.request_id = msg::next_request_id();
  g.prompt.text = "the second prompt";
  const auto second = ask(g);
  g.request_id = msg::next_request_id();
  g.prompt.text = "first";
  g.more_prompts.push_back(g.prompt);
  g.more_prompts[0].text = "the second prompt";
  const auto both = ask(g);
  ASSERT_TRUE(both->ok()) << both->failed.message;
  EXPECT_EQ(both->choice_text, (std::vector<std::string>{first->choice_text[0], first->choice_text[1],
                                                         second->choice_text[0], second->choice_text[1]}));
  EXPECT_EQ(both->finished.prompt_tokens, 5u + 17u);
  EXPECT_EQ(both->finished.completion_tokens, 32u);
}

TEST_F(node_test, an_echo_with_scores_has_the_prompts_tokens_also_after_a_crash) {
  auto armed = std::make_shared<bool>(false);
  hooks_.before_step = [armed](std::span<const actors::journal_row> rows) {
    for (const auto& row : rows) {
      if (!*armed || row.first_position < 64) continue;
      *armed = false;
      throw std::runtime_error("one-shot crash");
    }
  };
  start();
  const std::string prompt(90, 'q');
  std::vector<recording> runs;
  for (const bool crash : {false, true, true}) {
    auto g = text_request(prompt, 3);
    g.echo = true;
    g.choices = 2;
    *armed = crash;
    runs.push_back(ask(g));
    const auto& r = *runs.back();
    ASSERT_TRUE(r.ok()) << r.failed.message;
    ASSERT_EQ(r.choice_text.size(), 2u);
    EXPECT_TRUE(r.choice_text[0].starts_with(prompt));
    ASSERT_EQ(r.tokens.size(), 2u * 93);
    EXPECT_TRUE(std::isnan(r.tokens[0].logprob.value()));
    for (std::size_t i = 1; i < 90; ++i) {
      EXPECT_EQ(r.tokens[i].bytes, "q");
      EXPECT_EQ(r.tokens[i].logprob.bits, runs[0]->tokens[i].logprob.bits) << i;
      EXPECT_LT(r.tokens[i].logprob.value(), 0);
    }
    EXPECT_EQ(r.text, runs[0]->text);
    EXPECT_EQ(r.finished.completion_tokens, 6u);
    clock_.advance(std::chrono::seconds(10));
  }
}

TEST_F(node_test, scores_alone_need_no_answer) {
  start();
  auto g = text_request("score me", 0);
  g.echo = true;
  const auto r = ask(g);
  ASSERT_TRUE(r->ok()) << r->failed.message;
  EXPECT_EQ(r->text, "score me");
  EXPECT_EQ(r->tokens.size(), 8u);
  EXPECT_EQ(r->finished.completion_tokens, 0u);
}

TEST_F(node_test, embeddings_are_the_same_alone_together_and_after_a_crash) {
  auto armed = std::make_shared<bool>(false);
  hooks_.before_step = [armed](std::span<const actors::journal_row>) {
    if (!std::exchange(*armed, false)) return;
    throw std::runtime_error("one-shot crash");
  };
  start();
  const auto request = [&](const std::vector<std::string>& inputs) {
    auto g = text_request(inputs[0]);
    g.task = msg::request_task::embed;
    g.pooling = msg::pooling::mean;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      g.more_prompts.push_back(g.prompt);
      g.more_prompts.back().text = inputs[i];
    }
    return g;
  };
  const std::vector<std::string> inputs{"one", std::string(150, 'x'), "three of them"};
  std::vector<msg::f32_bits> alone;
  for (const auto& input : inputs) {
    const auto r = ask(request({input}));
    ASSERT_TRUE(r->ok()) << r->failed.message;
    alone.insert(alone.end(), r->transformed.embeddings.begin(), r->transformed.embeddings.end());
    EXPECT_EQ(r->transformed.prompt_tokens, input.size());
  }
  for (const bool crash : {false, true}) {
    *armed = crash;
    const auto together = ask(request(inputs));
    ASSERT_TRUE(together->ok()) << together->failed.message;
    EXPECT_EQ(together->transformed.embeddings, alone);
    EXPECT_EQ(together->transformed.model, "tiny");
  }
  double squares = 0;
  for (std::size_t i = 0; i < alone.size() / 3; ++i) squares += std::pow(alone[i].value(), 2);
  EXPECT_NEAR(squares, 1, 1e-5);
  EXPECT_NE(std::vector(alone.begin(), alone.begin() + 4), std::vector(alone.end() - 4, alone.end()));
}

TEST_F(node_test, an_input_beyond_the_context_is_refused_by_its_place) {
  start();
  auto g = text_request("fits");
  g.task = msg::request_task::embed;
  g.more_prompts.push_back(g.prompt);
  g.more_prompts[0].text = std::string(257, 'x');
  const auto r = ask(g);
  EXPECT_EQ(r->failed.code, msg::refusal::context_length_exceeded);
  EXPECT_EQ(r->failed.param, "input[1]");
  g.request_id = msg::next_request_id();
  g.more_prompts[0].text = std::string(256, 'x');
  EXPECT_TRUE(ask(g)->ok()) << "one that fills it fits";
}

TEST_F(node_test, an_infill_needs_its_tokens_and_a_template_is_rendered_without_them) {
  start();
  auto g = text_request("a");
  g.prompt.kind = msg::prompt_kind::infill;
  g.prompt.suffix = "b";
  EXPECT_EQ(ask(g)->failed.param, "suffix");
  auto chat = text_request("");
  chat.task = msg::request_task::encode;
  chat.prompt.kind = msg::prompt_kind::chat;
  chat.prompt.messages = {{"user", "hi", {}}};
  chat.prompt.render_only = true;
  EXPECT_EQ(ask(chat)->transformed.text, "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
}

}  // namespace
}  // namespace infer
