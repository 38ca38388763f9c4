// The whole tree on a virtual clock: requests, crashes at every token, restarts of every child, cancel, shutdown.
// Mirrors: node.cc, client.cc
#include <map>

#include "actors/support/shutdown.h"
#include "tests/actors/node_fixture.h"

namespace infer {
namespace {

using test_support::node_test;
using test_support::recording;

TEST_F(node_test, a_request_gets_its_tokens_and_one_end) {
  start();
  const auto r = ask(text_request("hello", 24));
  ASSERT_TRUE(r->ok()) << r->failed.message;
  EXPECT_EQ(r->starts, 1u);
  EXPECT_EQ(r->finished.completion_tokens, 24u);
  EXPECT_EQ(r->finished.prompt_tokens, 5u);
  EXPECT_EQ(r->started.model, "tiny");
  ASSERT_EQ(r->reasons.size(), 1u);
  EXPECT_EQ(r->reasons[0], msg::finish_reason::length);
}

TEST_F(node_test, the_same_seed_gives_the_same_text_and_another_seed_another) {
  start();
  auto g = text_request("seeded", 40);
  g.sampling.temperature = 1.0f;
  g.sampling.seed = 7;
  g.seed_given = true;
  const auto a = ask(g);
  g.request_id = msg::next_request_id();
  const auto b = ask(g);
  g.request_id = msg::next_request_id();
  g.sampling.seed = 8;
  const auto c = ask(g);
  ASSERT_TRUE(a->ok() && b->ok() && c->ok());
  EXPECT_EQ(a->text, b->text);
  EXPECT_NE(a->text, c->text);
}

TEST_F(node_test, neighbours_do_not_change_a_stream) {
  start();
  std::vector<std::string> alone;
  const std::vector<std::string> prompts{"one", "two two", "three three three",
                                         "a longer prompt that takes more than a page of positions"};
  for (const auto& prompt : prompts) alone.push_back(ask(text_request(prompt))->text);
  std::vector<recording> together;
  for (const auto& prompt : prompts) together.push_back(send(text_request(prompt)));
  for (const auto& r : together) run(r);
  for (std::size_t i = 0; i < prompts.size(); ++i) EXPECT_EQ(together[i]->text, alone[i]) << prompts[i];
}

TEST_F(node_test, choices_of_one_request_differ_and_are_repeatable) {
  start();
  auto g = text_request("several", 16);
  g.sampling.temperature = 1.0f;
  g.sampling.seed = 3;
  g.seed_given = true;
  g.choices = 3;
  const auto a = ask(g);
  g.request_id = msg::next_request_id();
  const auto b = ask(g);
  ASSERT_TRUE(a->ok() && b->ok());
  ASSERT_EQ(a->choice_text.size(), 3u);
  EXPECT_EQ(a->choice_text, b->choice_text);
  EXPECT_NE(a->choice_text[0], a->choice_text[1]);
  EXPECT_EQ(a->finished.completion_tokens, 48u);
}

TEST_F(node_test, a_prompt_one_token_longer_than_the_context_is_refused_with_both_numbers) {
  start();
  const auto r = ask(text_request(std::string(257, 'x')));
  ASSERT_TRUE(r->over());
  EXPECT_EQ(r->failed.code, msg::refusal::context_length_exceeded);
  EXPECT_NE(r->failed.message.find("257"), std::string::npos) << r->failed.message;
  EXPECT_NE(r->failed.message.find("256"), std::string::npos) << r->failed.message;
}

TEST_F(node_test, a_prompt_that_fills_the_context_ends_by_length_without_a_token) {
  start();
  const auto r = ask(text_request(std::string(256, 'x')));
  ASSERT_TRUE(r->ok()) << r->failed.message;
  EXPECT_EQ(r->finished.completion_tokens, 0u);
  EXPECT_EQ(r->reasons.at(0), msg::finish_reason::length);
}

TEST_F(node_test, max_tokens_is_clamped_to_what_the_context_leaves) {
  start();
  const auto r = ask(text_request(std::string(250, 'x'), 32000));
  ASSERT_TRUE(r->ok()) << r->failed.message;
  EXPECT_EQ(r->finished.completion_tokens, 6u);
  EXPECT_EQ(r->reasons.at(0), msg::finish_reason::length);
}

TEST_F(node_test, an_unknown_model_is_not_found) {
  start();
  auto g = text_request("x");
  g.model = "nothing";
  EXPECT_EQ(ask(g)->failed.code, msg::refusal::model_not_found);
}

/// Throws once, before the step that makes the token at `index`.
std::function<void(std::span<const actors::journal_row>)> crash_once_at(std::uint32_t index,
                                                                        std::shared_ptr<bool> armed) {
  return [index, armed](std::span<const actors::journal_row> rows) {
    for (const auto& row : rows) {
      if (*armed && row.next_index == index) {
        *armed = false;
        throw std::runtime_error("one-shot crash");
      }
    }
  };
}

class crash_at_token : public node_test, public testing::WithParamInterface<bool> {};

TEST_P(crash_at_token, every_stream_ends_with_the_same_bytes) {
  const bool seeded = GetParam();
  const auto request = [&](const std::string& prompt) {
    auto g = text_request(prompt, 40);
    if (seeded) {
      g.sampling.temperature = 0.9f;
      g.sampling.top_p = 0.95f;
      g.sampling.seed = 11;
      g.seed_given = true;
    }
    return g;
  };
  const std::vector<std::string> prompts{"the first stream", "another"};
  std::vector<std::string> undisturbed;
  auto armed = std::make_shared<bool>(false);
  auto position = std::make_shared<std::uint32_t>(0);
  hooks_.before_step = [armed, position](std::span<const actors::journal_row> rows) {
    crash_once_at(*position, armed)(rows);
  };
  start();
  for (const auto& prompt : prompts) undisturbed.push_back(ask(request(prompt))->text);
  for (*position = 0; *position < 40; ++*position) {
    // A fresh restart history each time: the window of the limit passes.
    clock_.advance(std::chrono::seconds(61), std::chrono::seconds(1));
    *armed = true;
    std::vector<recording> streams;
    for (const auto& prompt : prompts) streams.push_back(send(request(prompt)));
    for (std::size_t i = 0; i < streams.size(); ++i) {
      run(streams[i]);
      ASSERT_TRUE(streams[i]->ok()) << "position " << *position << ": " << streams[i]->failed.message;
      ASSERT_EQ(streams[i]->text, undisturbed[i]) << "position " << *position;
      ASSERT_EQ(streams[i]->finished.completion_tokens, 40u);
      ASSERT_EQ(streams[i]->starts, 1u);
    }
    ASSERT_FALSE(*armed) << "the crash at position " << *position << " never came";
  }
}

INSTANTIATE_TEST_SUITE_P(greedy_and_seeded, crash_at_token, testing::Bool());

TEST_F(node_test, a_model_that_crashes_at_every_step_fails_and_the_request_is_told) {
  hooks_.before_step = [](std::span<const actors::journal_row>) { throw std::runtime_error("always"); };
  start();
  const auto r = send(text_request("doomed"));
  run(r, std::chrono::minutes(2));
  ASSERT_TRUE(r->over());
  EXPECT_FALSE(r->failed.message.empty());
}

TEST_F(node_test, a_cancelled_request_ends_without_a_further_event_and_leaves_its_neighbours_alone) {
  start();
  const std::string undisturbed = ask(text_request("neighbour"))->text;
  auto g = text_request("victim", 200);
  const auto gone = send(g);
  const auto stays = send(text_request("neighbour"));
  for (int i = 0; i < 400 && gone->upto < 5; ++i) clock_.settle(1);
  ASSERT_GE(gone->upto, 5u);
  caf::anon_send(gone->control, msg::cancel_request{g.request_id});
  run(stays);
  EXPECT_EQ(stays->text, undisturbed);
  EXPECT_LT(gone->upto, 200u);
  EXPECT_FALSE(gone->over()) << "no event follows a cancel";
  const auto again = ask(text_request("neighbour"));
  EXPECT_EQ(again->text, undisturbed);
}

TEST_F(node_test, a_sink_that_ends_cancels_its_request) {
  start();
  const auto gone = send(text_request("vanishing", 200));
  for (int i = 0; i < 400 && gone->upto < 3; ++i) clock_.settle(1);
  caf::anon_send_exit(gone->sink, caf::exit_reason::kill);
  clock_.settle();
  const std::uint32_t before = gone->upto;
  const auto other = ask(text_request("other"));
  EXPECT_TRUE(other->ok());
  EXPECT_EQ(gone->upto, before);
}

TEST_F(node_test, a_slow_sink_stops_its_own_stream_only) {
  start();
  auto g = text_request("slow", 200);
  g.window = 8;
  auto slow = std::make_shared<test_support::recorded_request>();
  slow->take = false;
  slow->sink = clock_.system().spawn(test_support::record_events, slow);
  recordings_.push_back(slow);
  caf::anon_send(node_.requests, g, slow->sink);
  const auto other = ask(text_request("other", 60));
  EXPECT_TRUE(other->ok());
  EXPECT_FALSE(slow->over());
  EXPECT_LE(slow->upto, 9u) << "no more than the window may be under way";
  slow->take = true;
  caf::anon_send(slow->control, msg::taken{g.request_id, 0, slow->upto});
  run(slow);
  EXPECT_TRUE(slow->ok());
  EXPECT_EQ(slow->finished.completion_tokens, 200u);
}

TEST_F(node_test, more_streams_than_slots_wait_and_all_finish) {
  start({}, 2);
  std::vector<recording> all;
  for (int i = 0; i < 12; ++i) all.push_back(send(text_request("stream " + std::to_string(i), 20)));
  for (const auto& r : all) {
    run(r);
    EXPECT_TRUE(r->ok()) << r->failed.message;
  }
}

TEST_F(node_test, too_little_memory_is_refused_with_the_numbers) {
  start({}, 1, 100'000);
  const auto r = ask(text_request("x"));
  EXPECT_EQ(r->failed.code, msg::refusal::model_failed);
  EXPECT_NE(r->failed.message.find("budget"), std::string::npos) << r->failed.message;
}

TEST_F(node_test, a_stop_string_across_tokens_is_never_shown) {
  start();
  const std::string whole = ask(text_request("stop here"))->text;
  ASSERT_GT(whole.size(), 12u);
  // A stop string from the middle of the text that does not occur earlier.
  std::size_t at = whole.size() / 2;
  while (at > 0 && (static_cast<unsigned char>(whole[at]) & 0xC0) == 0x80) --at;
  std::size_t length = 6;
  while (at + length < whole.size() && (static_cast<unsigned char>(whole[at + length]) & 0xC0) == 0x80) ++length;
  const std::string stop = whole.substr(at, length);
  auto g = text_request("stop here");
  g.stop = {stop};
  const auto r = ask(g);
  ASSERT_TRUE(r->ok()) << r->failed.message;
  EXPECT_EQ(r->text, whole.substr(0, whole.find(stop)));
  EXPECT_EQ(r->reasons.at(0), msg::finish_reason::stop);
}

TEST_F(node_test, the_tree_stops_while_streams_run) {
  start();
  const auto r = send(text_request("long", 200));
  for (int i = 0; i < 200; ++i) clock_.settle(1);
  bool down = false;
  const caf::actor watcher = clock_.system().spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->monitor(node_.root);
    self->set_down_handler([&](const caf::down_msg&) { down = true; });
    return {[](int) {}};
  });
  clock_.settle(1);
  caf::anon_send(node_.root, msg::stop_children{50});
  clock_.settle();
  clock_.advance(std::chrono::seconds(2));
  EXPECT_TRUE(down);
  caf::anon_send_exit(watcher, caf::exit_reason::kill);
  node_ = {};
}

}  // namespace
}  // namespace infer
