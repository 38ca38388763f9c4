// What a fault inside the server does to the request it happens in.
#include "actors/gateway/transaction.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "actors/gateway/server_shared.h"

namespace infer::actors {
namespace {

/// A connection whose next sends fail.
struct failing_host final : transaction_host {
  int failures = 1;
  int ends = 0;
  bool kept = false;
  std::string sent;

  void send(std::string bytes, std::vector<credit_mark>) override {
    if (failures-- > 0) throw std::runtime_error("out of order");
    sent += bytes;
  }
  void end(bool keep_alive) override { ++ends, kept = keep_alive; }
  bool can_keep_alive() const override { return true; }
  std::function<void()> waker() override {
    return [] {};
  }
  void run_aside(std::function<void()> work, std::function<void()> done) override {
    work();
    done();
  }
};

request_head post_to(std::string target) {
  request_head head;
  head.method = "POST";
  head.target = std::move(target);
  return head;
}

gateway_config quiet(std::size_t parse_threshold) {
  gateway_config config;
  config.parse_threshold = parse_threshold;
  return config;
}

void answer(exchange& x, const std::string& text) {
  const auto id = std::get<msg::generate>(x.order()).request_id;
  x.post(msg::request_started{id, "m", 1, 0, 0});
  x.post(msg::text_made{id, 0, text, {}, 1});
  x.post(msg::choice_finished{id, 0, msg::finish_reason::stop, {}, 1});
  x.post(msg::request_finished{id, 1, 1, 0, 1, 1});
}

TEST(Transaction, AFaultInTheAnswerEndsItsConnectionAndNothingElse) {
  for (const char* const stream : {"false", "true"}) {
    server_shared shared(quiet(1 << 20));
    failing_host host;
    transaction one(host, shared, post_to("/v1/completions"));
    ASSERT_TRUE(one.check_head());
    one.run(std::string(R"({"prompt":"x","stream":)") + stream + "}");
    const auto waiting = shared.link->take();
    ASSERT_EQ(waiting.size(), 1u);
    answer(*waiting.front(), "hello");
    one.wake();
    EXPECT_EQ(host.ends, 1) << stream;
    EXPECT_FALSE(host.kept) << stream;
    EXPECT_EQ(host.sent, "") << "nothing without a head";
  }
}

TEST(Transaction, TheSameRequestIsAnsweredWhereNothingFails) {
  for (const std::size_t aside : {0u, 1u << 20}) {
    server_shared shared(quiet(aside));
    failing_host host;
    host.failures = 0;
    transaction one(host, shared, post_to("/v1/completions"));
    ASSERT_TRUE(one.check_head());
    one.run(R"({"prompt":"x"})");
    const auto waiting = shared.link->take();
    ASSERT_EQ(waiting.size(), 1u);
    answer(*waiting.front(), "hello");
    one.wake();
    EXPECT_TRUE(host.sent.starts_with("HTTP/1.1 200 ")) << host.sent;
    EXPECT_NE(host.sent.find("hello"), std::string::npos);
    EXPECT_EQ(host.ends, 1);
  }
}

}  // namespace
}  // namespace infer::actors
