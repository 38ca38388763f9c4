// Restarts to the millisecond, giving up, ordered stop — on a virtual clock.
// Mirrors: shutdown.cc, error_bridge.cc
#include "actors/support/supervisor.h"

#include <gtest/gtest.h>

#include <future>

#include "actors/support/error_bridge.h"
#include "actors/support/shutdown.h"
#include "tests/actors/virtual_clock.h"

namespace infer::actors {
namespace {

using namespace std::chrono_literals;
using test_support::virtual_clock;

struct lives {
  std::vector<std::string> log;
  std::map<std::string, caf::actor> current;
  std::map<std::string, int> starts;
};

caf::behavior child(caf::event_based_actor* self, std::shared_ptr<lives> seen, std::string name) {
  self->set_exception_handler(crash_handler(name));
  self->attach_functor([seen, name] { seen->log.push_back("end " + name); });
  return {[](int) { throw std::runtime_error("told to"); }};
}

child_spec row(const std::string& name, std::shared_ptr<lives> seen, restart_policy policy = restart_policy::permanent,
               std::vector<std::string> with = {}) {
  return {name, policy, "pooled", {}, std::move(with), [name, seen](caf::actor_system& sys) {
            ++seen->starts[name];
            seen->log.push_back("start " + name);
            return seen->current[name] = sys.spawn(child, seen, name);
          }};
}

class supervisor : public testing::Test {
 protected:
  void supervise_rows(std::vector<child_spec> rows, restart_limits limits = {}) {
    root_ = clock_.system().spawn(supervise, std::move(rows), supervisor_options{.name = "test", .limits = limits});
    watcher_ = clock_.system().spawn([this](caf::event_based_actor* self) -> caf::behavior {
      self->monitor(root_);
      self->set_down_handler([this](const caf::down_msg& down) {
        down_ = true;
        why_ = down.reason;
      });
      return {[](int) {}};
    });
    clock_.settle();
  }

  void crash(const std::string& name) {
    caf::anon_send(seen_->current[name], 1);
    clock_.settle();
  }

  void TearDown() override {
    seen_->current.clear();
    caf::anon_send(root_, msg::stop_children{10});
    clock_.settle();
    clock_.advance(100ms);
    caf::anon_send_exit(watcher_, caf::exit_reason::kill);
    root_ = nullptr;
    watcher_ = nullptr;
    clock_.settle();
  }

  virtual_clock clock_;
  std::shared_ptr<lives> seen_ = std::make_shared<lives>();
  caf::actor root_, watcher_;
  bool down_ = false;
  caf::error why_;
};

TEST_F(supervisor, starts_in_order_and_stops_in_reverse_one_after_the_other) {
  supervise_rows({row("a", seen_), row("b", seen_), row("c", seen_)});
  EXPECT_EQ(seen_->log, (std::vector<std::string>{"start a", "start b", "start c"}));
  seen_->log.clear();
  caf::anon_send(root_, msg::stop_children{1000});
  clock_.settle();
  EXPECT_EQ(seen_->log, (std::vector<std::string>{"end c", "end b", "end a"}));
  EXPECT_TRUE(down_);
}

TEST_F(supervisor, restarts_double_their_delay_not_a_millisecond_early) {
  supervise_rows({row("a", seen_)});
  for (const auto delay : {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms}) {
    const int before = seen_->starts["a"];
    crash("a");
    clock_.advance(delay - 1ms, 1ms);
    EXPECT_EQ(seen_->starts["a"], before) << delay.count();
    clock_.advance(1ms, 1ms);
    EXPECT_EQ(seen_->starts["a"], before + 1) << delay.count();
  }
  EXPECT_FALSE(down_);
}

TEST_F(supervisor, health_resets_the_delay) {
  supervise_rows({row("a", seen_)});
  crash("a");
  clock_.advance(50ms, 1ms);
  crash("a");
  clock_.advance(100ms, 1ms);
  clock_.advance(5s, 100ms);
  const int before = seen_->starts["a"];
  crash("a");
  clock_.advance(50ms, 1ms);
  EXPECT_EQ(seen_->starts["a"], before + 1);
}

TEST_F(supervisor, gives_up_after_too_many_restarts_in_its_window) {
  restart_limits limits;
  limits.restarts_in_window = 3;
  supervise_rows({row("a", seen_), row("b", seen_)}, limits);
  for (int i = 0; i < 3; ++i) {
    crash("a");
    clock_.advance(2s, 10ms);
    EXPECT_FALSE(down_);
  }
  crash("a");
  clock_.advance(10ms);
  EXPECT_TRUE(down_);
  EXPECT_TRUE(static_cast<bool>(why_)) << "giving up is no normal end";
  EXPECT_EQ(seen_->log.back(), "end b") << "the others are stopped too";
}

TEST_F(supervisor, restarts_spread_over_more_than_the_window_are_no_reason_to_give_up) {
  restart_limits limits;
  limits.restarts_in_window = 2;
  supervise_rows({row("a", seen_)}, limits);
  for (int i = 0; i < 8; ++i) {
    crash("a");
    clock_.advance(31s, 100ms);
    ASSERT_FALSE(down_) << i;
  }
}

TEST_F(supervisor, companions_restart_with_the_one_that_died) {
  supervise_rows({row("decode", seen_), row("port", seen_, restart_policy::permanent, {"decode"})});
  seen_->log.clear();
  crash("port");
  clock_.advance(50ms, 1ms);
  EXPECT_EQ(seen_->starts["decode"], 2);
  EXPECT_EQ(seen_->starts["port"], 2);
  seen_->log.clear();
  crash("decode");
  clock_.advance(200ms, 1ms);
  EXPECT_EQ(seen_->starts["decode"], 3);
  EXPECT_EQ(seen_->starts["port"], 2) << "only the other way round";
}

TEST_F(supervisor, a_companion_restarts_only_when_it_has_ended) {
  auto gate = std::make_shared<std::promise<void>>();
  child_spec busy = row("decode", seen_);
  busy.start = [seen = seen_, open = gate->get_future().share()](caf::actor_system& sys) {
    ++seen->starts["decode"];
    return seen->current["decode"] = sys.spawn<caf::detached>(
               [open](caf::event_based_actor*) -> caf::behavior { return {[open](int) { open.wait(); }}; });
  };
  supervise_rows({busy, row("port", seen_, restart_policy::permanent, {"decode"})});
  caf::anon_send(seen_->current["decode"], 1);
  crash("port");
  clock_.advance(1s, 50ms);
  EXPECT_EQ(seen_->starts["decode"], 1) << "it computes still";
  EXPECT_EQ(seen_->starts["port"], 1) << "what needs it waits";
  gate->set_value();
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (seen_->starts["port"] < 2 && std::chrono::steady_clock::now() < deadline) clock_.advance(50ms, 1ms);
  EXPECT_EQ(seen_->starts["decode"], 2);
  EXPECT_EQ(seen_->starts["port"], 2);
}

TEST_F(supervisor, an_escalating_child_ends_its_supervisor_with_an_error) {
  supervise_rows({row("a", seen_), row("b", seen_, restart_policy::escalate)});
  crash("b");
  clock_.advance(10ms);
  EXPECT_TRUE(down_);
  EXPECT_TRUE(static_cast<bool>(why_));
}

TEST_F(supervisor, a_start_that_throws_is_tried_again) {
  int attempts = 0;
  child_spec flaky = row("a", seen_);
  const auto start = flaky.start;
  flaky.start = [&attempts, start](caf::actor_system& sys) {
    if (++attempts < 3) throw std::runtime_error("not yet");
    return start(sys);
  };
  supervise_rows({flaky});
  EXPECT_EQ(attempts, 1);
  clock_.advance(50ms, 1ms);
  EXPECT_EQ(attempts, 2);
  clock_.advance(100ms, 1ms);
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(seen_->starts["a"], 1);
}

TEST_F(supervisor, an_exit_overtakes_what_is_queued) {
  int handled = 0;
  caf::actor target =
      clock_.system().spawn([&](caf::event_based_actor*) -> caf::behavior { return {[&](int) { ++handled; }}; });
  clock_.settle();
  for (int i = 0; i < 1000; ++i) caf::anon_send(target, i);
  exit_now(target, caf::exit_reason::user_shutdown);
  target = nullptr;
  clock_.settle();
  EXPECT_EQ(handled, 0);
  supervise_rows({});
}

TEST(error_bridge, keeps_the_sentence) {
  const caf::error e = to_caf(error{std::make_error_code(std::errc::io_error), "the disk is on fire"});
  EXPECT_TRUE(static_cast<bool>(e));
  EXPECT_NE(describe(e).find("the disk is on fire"), std::string::npos);
}

}  // namespace
}  // namespace infer::actors
