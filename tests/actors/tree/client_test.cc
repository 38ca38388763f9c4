// The blocking client on real threads: whole answers, and answers that are cancelled while they stream.
#include "actors/tree/client.h"

#include <gtest/gtest.h>

#include <caf/actor_system_config.hpp>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace infer {
namespace {

struct node_system_config : caf::actor_system_config {
  node_system_config() { configure(*this); }
};

class Client : public testing::Test {
 protected:
  Client() : system_(config_) {
    test_support::tiny_llama shape;
    shape.context = 4096;
    test_support::write_tiny_llama(folder_ / "tiny.gguf", shape);
    node_config config;
    config.models.resize(1);
    config.models.front().source = {"tiny", (folder_ / "tiny.gguf").string(), 4096, 2, "f16", "f16", "quantized", 64};
    config.compute_threads = 1;
    // Slow enough that no answer of thousands of tokens is over before it is cancelled.
    config.hooks.before_step = [](auto) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
    node_ = spawn_node(system_, config);
  }
  ~Client() override {
    EXPECT_TRUE(stop_node(system_, node_));
    node_ = {};
  }

  static msg::generate request(std::uint32_t tokens) {
    msg::generate out;
    out.prompt.text = "abc";
    out.sampling.temperature = 0.0f;
    out.sampling.ignore_end = true;
    out.max_tokens = tokens;
    return out;
  }

  test_support::temporary_folder folder_;
  node_system_config config_;
  caf::actor_system system_;
  node node_;
};

TEST_F(Client, GivesAWholeAnswerWithItsCounts) {
  std::atomic<bool> cancel{false};
  std::uint32_t started = 0;
  client_callbacks callbacks;
  callbacks.on_started = [&](const msg::request_started& event) { started = event.prompt_tokens; };
  const client_result got = run_request(system_, node_, request(9), callbacks, &cancel);
  ASSERT_TRUE(got.ok) << got.failure.message;
  EXPECT_FALSE(got.cancelled);
  EXPECT_EQ(got.answer.completion_tokens, 9u);
  EXPECT_EQ(got.answer.choices.front().completion_tokens, 9u);
  EXPECT_EQ(got.answer.prompt_tokens, 3u);
  EXPECT_EQ(started, 3u);
}

TEST_F(Client, ACancelledAnswerEndsEarlyWithWhatHadCome) {
  const std::string whole = run_request(system_, node_, request(100)).answer.choices.front().text;
  std::atomic<bool> cancel{false};
  std::string text;
  client_callbacks callbacks;
  callbacks.on_text = [&](const msg::text_made& event) {
    text += event.text;
    if (event.upto >= 5) cancel = true;
  };
  const client_result got = run_request(system_, node_, request(4000), callbacks, &cancel);
  EXPECT_FALSE(got.ok);
  EXPECT_TRUE(got.cancelled);
  EXPECT_EQ(got.answer.choices.front().text, text);
  EXPECT_EQ(text.substr(0, whole.size()), whole.substr(0, text.size()));
  EXPECT_GE(got.answer.completion_tokens, 5u);
  EXPECT_LT(got.answer.completion_tokens, 3000u);
  EXPECT_EQ(got.answer.prompt_tokens, 3u);

  const client_result next = run_request(system_, node_, request(100), {}, nullptr);
  ASSERT_TRUE(next.ok) << "the next request is served";
  EXPECT_EQ(next.answer.choices.front().text, whole);
}

TEST_F(Client, ARequestThatIsCancelledBeforeItBeginsEndsToo) {
  const std::atomic<bool> cancel{true};
  const client_result got = run_request(system_, node_, request(4000), {}, &cancel);
  EXPECT_TRUE(got.cancelled);
  EXPECT_LT(got.answer.completion_tokens, 3000u);
  EXPECT_TRUE(run_request(system_, node_, request(2)).ok);
}

TEST_F(Client, AFailureIsNoCancellation) {
  const std::atomic<bool> cancel{false};
  auto asked = request(1);
  asked.model = "nobody";
  const client_result got = run_request(system_, node_, asked, {}, &cancel);
  EXPECT_FALSE(got.ok || got.cancelled);
  EXPECT_EQ(got.failure.code, msg::refusal::model_not_found);
}

}  // namespace
}  // namespace infer
