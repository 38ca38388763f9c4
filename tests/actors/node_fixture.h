// A whole node on a virtual clock, over a tiny model, and a sink that records what a request is sent.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "actors/tree/node.h"
#include "tests/actors/virtual_clock.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace infer::test_support {

/// Everything one request brought.
struct recorded_request {
  request_control control;
  event_sink sink;
  std::string text;
  std::vector<std::string> choice_text;
  std::vector<msg::finish_reason> reasons;
  std::vector<std::uint32_t> completion_tokens;
  std::vector<msg::text_token> tokens;
  msg::request_started started;
  msg::request_finished finished;
  msg::request_failed failed;
  msg::text_transformed transformed;
  std::uint32_t starts = 0, ends = 0, waits = 0;
  bool take = true;  // give credit back at once
  std::uint32_t upto = 0;

  bool over() const { return ends > 0; }
  bool ok() const { return ends == 1 && failed.message.empty(); }
};
using recording = std::shared_ptr<recorded_request>;

inline event_sink::behavior_type record_events(event_sink::pointer self, recording r) {
  return {
      [self, r](const msg::text_made& e) {
        r->text += e.text;
        r->choice_text.resize(std::max<std::size_t>(r->choice_text.size(), e.choice + 1));
        r->choice_text[e.choice] += e.text;
        r->tokens.insert(r->tokens.end(), e.tokens.begin(), e.tokens.end());
        r->upto = e.upto;
        if (r->take) self->send(r->control, msg::taken{e.request_id, e.choice, e.upto});
      },
      [r](const msg::choice_finished& e) {
        r->reasons.push_back(e.reason);
        r->completion_tokens.push_back(e.completion_tokens);
      },
      [r](const msg::request_started& e) {
        r->started = e;
        ++r->starts;
      },
      [self, r](const msg::request_finished& e) {
        r->finished = e;
        ++r->ends;
        r->control = nullptr;
        r->sink = nullptr;
        self->quit();
      },
      [self, r](const msg::request_failed& e) {
        r->failed = e;
        ++r->ends;
        r->control = nullptr;
        r->sink = nullptr;
        self->quit();
      },
      [r](const msg::request_waiting&) { ++r->waits; },
      [r](const msg::request_accepted&, const request_control& control) { r->control = control; },
      [self, r](const msg::text_transformed& e) {
        r->transformed = e;
        ++r->ends;
        r->control = nullptr;
        r->sink = nullptr;
        self->quit();
      },
  };
}

/// The model's core is reachable through `core` once it was loaded (a hook captures it on the first step).
class node_test : public testing::Test {
 protected:
  void start(tiny_llama shape = {}, std::uint32_t slots = 8, std::uint64_t memory_bytes = std::uint64_t{1} << 30) {
    write_tiny_llama(folder_ / "tiny.gguf", shape);
    actors::zoo_model model;
    model.source.id = "tiny";
    model.source.path = (folder_ / "tiny.gguf").string();
    model.source.slots = slots;
    model.source.batch = 64;
    start_with({model}, memory_bytes);
  }

  void start_with(std::vector<actors::zoo_model> models, std::uint64_t memory_bytes) {
    node_config config;
    config.models = std::move(models);
    config.memory_bytes = memory_bytes;
    config.threads = {actors::thread_kind::pooled, actors::thread_kind::pooled};
    config.loader_workers = actors::thread_kind::pooled;
    config.hooks = hooks_;
    node_ = spawn_node(clock_.system(), std::move(config));
    clock_.settle();
  }

  void TearDown() override {
    for (auto& r : recordings_) {
      if (r->sink) caf::anon_send_exit(r->sink, caf::exit_reason::kill);
      r->control = nullptr;
      r->sink = nullptr;
    }
    if (node_.root) caf::anon_send(node_.root, msg::stop_children{100});
    node_ = {};
    clock_.settle();
    clock_.advance(std::chrono::milliseconds(500));
  }

  msg::generate text_request(std::string prompt, std::uint32_t max_tokens = 40) {
    msg::generate g;
    g.request_id = msg::next_request_id();
    g.prompt.kind = msg::prompt_kind::text;
    g.prompt.text = std::move(prompt);
    g.max_tokens = max_tokens;
    g.sampling.temperature = 0.0f;
    g.sampling.ignore_end = true;
    g.logprobs = true;
    return g;
  }

  recording send(msg::generate g) {
    auto r = std::make_shared<recorded_request>();
    r->sink = clock_.system().spawn(record_events, r);
    recordings_.push_back(r);
    caf::anon_send(node_.requests, std::move(g), r->sink);
    return r;
  }

  /// Runs until idle, letting restarts and timers become due, at most `most` of virtual time.
  void run(const recording& r, std::chrono::milliseconds most = std::chrono::seconds(20)) {
    clock_.settle();
    for (std::chrono::milliseconds t{0}; t < most && !r->over(); t += std::chrono::milliseconds(10))
      clock_.advance(std::chrono::milliseconds(10));
  }

  recording ask(msg::generate g) {
    auto r = send(std::move(g));
    run(r);
    return r;
  }

  virtual_clock clock_;
  temporary_folder folder_;
  actors::core_hooks hooks_;
  node node_;
  std::vector<recording> recordings_;
};

}  // namespace infer::test_support
