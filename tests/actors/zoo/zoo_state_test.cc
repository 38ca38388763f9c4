// The state machine of models, event by event, against the table of the design.
#include "actors/zoo/zoo_state.h"

#include <gtest/gtest.h>

namespace infer::actors {
namespace {

using namespace std::chrono_literals;
using state = msg::model_state;

/// Remembers what the zoo wanted done.
struct recorder final : zoo_output {
  std::vector<std::string> log;
  std::vector<msg::lease_granted> grants;
  std::vector<msg::lease_refused> refusals;
  std::vector<msg::model_changed> changes;
  msg::measure_model last_measure;
  msg::claim_memory last_claim;
  msg::load_weights last_load;

  void measure(const msg::measure_model& m) override {
    last_measure = m;
    log.push_back("measure");
  }
  void claim(const msg::claim_memory& m) override {
    last_claim = m;
    log.push_back("claim");
  }
  void cancel_claim(const msg::cancel_claim&) override { log.push_back("cancel_claim"); }
  void load(const msg::load_weights& m) override {
    last_load = m;
    log.push_back("load");
  }
  void cancel_load(const msg::cancel_load&) override { log.push_back("cancel_load"); }
  void start(const msg::start_model&) override { log.push_back("start"); }
  void stop(const msg::stop_model&) override { log.push_back("stop"); }
  void grant(const msg::lease_granted& m) override { grants.push_back(m); }
  void wait(const msg::lease_waiting&) override {}
  void refuse(const msg::lease_refused& m) override { refusals.push_back(m); }
  void changed(const msg::model_changed& m) override { changes.push_back(m); }

  std::vector<std::string> take() { return std::exchange(log, {}); }
};

using steps = std::vector<std::string>;

class zoo : public testing::Test {
 protected:
  static std::vector<zoo_model> two_models() {
    std::vector<zoo_model> models(2);
    models[0].source.id = "a";
    models[0].aliases = {"first"};
    models[1].source.id = "b";
    models[1].keep_alive = 10s;
    return models;
  }

  void acquire(std::uint64_t request, const std::string& model = "a", std::uint32_t deadline_ms = msg::no_limit) {
    zoo_.acquire({request, model, 0, deadline_ms}, now_);
  }
  state of(const std::string& id) const {
    for (const auto& row : zoo_.rows()) {
      if (row.id == id) return row.state;
    }
    return state::failed;
  }
  std::uint32_t generation() const { return out_.last_measure.generation; }
  /// From absent to ready with whoever waits.
  void bring_up(const std::string& id) {
    zoo_.measured({generation(), id, 1000, 4096}, now_);
    zoo_.claim_granted({out_.last_claim.claim_id});
    ASSERT_TRUE(zoo_.loaded({generation(), id, 1000, 2048, 4096}, now_));
    zoo_.started({generation(), id, 1000, 2048, 4096}, now_);
    out_.take();
  }

  recorder out_;
  zoo_time now_{};
  zoo_state zoo_{two_models(), 1, out_};
};

TEST_F(zoo, an_absent_model_is_measured_claimed_loaded_and_started) {
  acquire(1);
  EXPECT_EQ(of("a"), state::claiming);
  EXPECT_EQ(out_.take(), steps{"measure"});
  zoo_.measured({generation(), "a", 777, 4096}, now_);
  EXPECT_EQ(out_.take(), steps{"claim"});
  EXPECT_EQ(out_.last_claim.bytes, 777u);
  zoo_.claim_granted({out_.last_claim.claim_id});
  EXPECT_EQ(of("a"), state::loading);
  EXPECT_EQ(out_.take(), steps{"load"});
  EXPECT_EQ(out_.last_load.claim_id, out_.last_claim.claim_id);
  EXPECT_TRUE(zoo_.loaded({generation(), "a", 1000, 2048, 4096}, now_));
  EXPECT_EQ(out_.take(), steps{"start"});
  EXPECT_TRUE(out_.grants.empty());
  zoo_.started({generation(), "a", 1000, 2048, 4096}, now_);
  EXPECT_EQ(of("a"), state::ready);
  ASSERT_EQ(out_.grants.size(), 1u);
  EXPECT_EQ(out_.grants[0].request_id, 1u);
  EXPECT_EQ(out_.grants[0].model, "a");
}

TEST_F(zoo, a_model_may_answer_to_any_name) {
  acquire(1, "gpt-4");
  ASSERT_EQ(out_.refusals.size(), 1u);
  auto models = two_models();
  models[1].aliases = {any_name};
  zoo_state lenient(models, 1, out_);
  lenient.acquire({2, "gpt-4", 0, msg::no_limit}, now_);
  EXPECT_EQ(out_.refusals.size(), 1u);
  EXPECT_EQ(out_.last_measure.source.id, "b");
  lenient.acquire({3, "a", 0, msg::no_limit}, now_);
  EXPECT_EQ(out_.last_measure.source.id, "a") << "a name that somebody has is his";
  lenient.unload({4, "gpt-4"}, now_);
  ASSERT_EQ(out_.changes.size(), 1u);
  EXPECT_FALSE(out_.changes[0].done) << "orders name a model";
}

TEST_F(zoo, waiters_are_coalesced_and_served_in_order) {
  for (std::uint64_t request = 1; request <= 5; ++request) acquire(request);
  EXPECT_EQ(out_.take(), steps{"measure"});
  bring_up("a");
  ASSERT_EQ(out_.grants.size(), 5u);
  for (std::uint64_t request = 1; request <= 5; ++request) EXPECT_EQ(out_.grants[request - 1].request_id, request);
}

TEST_F(zoo, an_alias_and_the_empty_name_find_the_model) {
  acquire(1, "first");
  acquire(2, "");
  bring_up("a");
  EXPECT_EQ(out_.grants.size(), 2u);
}

TEST_F(zoo, an_unknown_model_is_refused) {
  acquire(1, "c");
  ASSERT_EQ(out_.refusals.size(), 1u);
  EXPECT_EQ(out_.refusals[0].code, msg::refusal::model_not_found);
}

TEST_F(zoo, stale_generations_are_dropped) {
  acquire(1);
  const auto old = generation();
  zoo_.holder_down(1, now_);
  EXPECT_EQ(of("a"), state::absent);
  acquire(2);
  ASSERT_NE(generation(), old);
  out_.take();
  zoo_.measured({old, "a", 5, 5}, now_);
  EXPECT_EQ(out_.take(), steps{});
  EXPECT_FALSE(zoo_.loaded({old, "a", 1, 1, 1}, now_));
  zoo_.load_failed({old, "a", "late", false, false}, now_);
  EXPECT_EQ(of("a"), state::claiming);
}

TEST_F(zoo, the_last_waiter_gone_while_claiming_gives_the_claim_back) {
  acquire(1);
  acquire(2);
  zoo_.measured({generation(), "a", 5, 5}, now_);
  out_.take();
  zoo_.holder_down(1, now_);
  EXPECT_EQ(out_.take(), steps{});
  zoo_.holder_down(2, now_);
  EXPECT_EQ(out_.take(), steps{"cancel_claim"});
  EXPECT_EQ(of("a"), state::absent);
}

TEST_F(zoo, the_last_waiter_gone_while_loading_cancels_and_a_newcomer_starts_again) {
  acquire(1);
  zoo_.measured({generation(), "a", 5, 5}, now_);
  zoo_.claim_granted({out_.last_claim.claim_id});
  const auto old = generation();
  out_.take();
  zoo_.holder_down(1, now_);
  EXPECT_EQ(out_.take(), steps{"cancel_load"});
  EXPECT_EQ(of("a"), state::cancelling);
  acquire(2);
  EXPECT_EQ(of("a"), state::cancelling);
  zoo_.load_failed({old, "a", "cancelled", false, true}, now_);
  EXPECT_EQ(of("a"), state::claiming);
  EXPECT_NE(generation(), old);
}

TEST_F(zoo, a_load_that_ends_well_after_its_cancel_is_not_started) {
  acquire(1);
  zoo_.measured({generation(), "a", 5, 5}, now_);
  zoo_.claim_granted({out_.last_claim.claim_id});
  zoo_.holder_down(1, now_);
  out_.take();
  EXPECT_FALSE(zoo_.loaded({generation(), "a", 1, 1, 1}, now_));
  EXPECT_EQ(out_.take(), steps{});
  EXPECT_EQ(of("a"), state::absent);
}

TEST_F(zoo, a_failed_load_tells_every_waiter_and_backs_off) {
  acquire(1);
  acquire(2);
  zoo_.load_failed({generation(), "a", "bad magic", false, false}, now_);
  EXPECT_EQ(of("a"), state::failed);
  ASSERT_EQ(out_.refusals.size(), 2u);
  EXPECT_EQ(out_.refusals[0].code, msg::refusal::model_failed);
  EXPECT_NE(out_.refusals[0].message.find("bad magic"), std::string::npos);
  now_ += 500ms;
  acquire(3);
  ASSERT_EQ(out_.refusals.size(), 3u);
  EXPECT_EQ(out_.refusals[2].retry_after_ms, 500u);
  now_ += 501ms;
  acquire(4);
  EXPECT_EQ(of("a"), state::claiming);
  // The second failure waits twice as long.
  zoo_.load_failed({generation(), "a", "bad magic", false, false}, now_);
  now_ += 1900ms;
  acquire(5);
  EXPECT_EQ(of("a"), state::failed);
  now_ += 200ms;
  acquire(6);
  EXPECT_EQ(of("a"), state::claiming);
}

TEST_F(zoo, a_retryable_failure_is_repeated_once) {
  acquire(1);
  zoo_.load_failed({generation(), "a", "loader died", true, false}, now_);
  EXPECT_EQ(of("a"), state::claiming);
  zoo_.load_failed({generation(), "a", "loader died", true, false}, now_);
  EXPECT_EQ(of("a"), state::failed);
}

TEST_F(zoo, a_claim_that_can_never_be_met_fails_with_its_numbers) {
  acquire(1);
  zoo_.measured({generation(), "a", 5, 5}, now_);
  zoo_.claim_refused({out_.last_claim.claim_id, "needs 5, has 3"}, now_);
  EXPECT_EQ(of("a"), state::failed);
  EXPECT_NE(out_.refusals.at(0).message.find("needs 5, has 3"), std::string::npos);
}

TEST_F(zoo, an_order_to_load_overrides_the_back_off) {
  acquire(1);
  zoo_.load_failed({generation(), "a", "x", false, false}, now_);
  zoo_.load({9, "a"}, now_);
  EXPECT_EQ(of("a"), state::claiming);
  bring_up("a");
  ASSERT_EQ(out_.changes.size(), 1u);
  EXPECT_TRUE(out_.changes[0].done);
  EXPECT_EQ(out_.changes[0].model.state, state::ready);
}

TEST_F(zoo, unload_waits_for_leases_then_drains_and_answers) {
  acquire(1);
  bring_up("a");
  zoo_.unload({9, "a"}, now_);
  EXPECT_EQ(of("a"), state::closing);
  acquire(2);
  EXPECT_EQ(out_.refusals.size(), 1u);
  EXPECT_EQ(out_.take(), steps{});
  zoo_.release({1, out_.grants[0].lease_id}, now_);
  EXPECT_EQ(of("a"), state::draining);
  EXPECT_EQ(out_.take(), steps{"stop"});
  EXPECT_TRUE(out_.changes.empty());
  zoo_.down({generation(), "a", ""}, now_);
  EXPECT_EQ(of("a"), state::absent);
  ASSERT_EQ(out_.changes.size(), 1u);
  EXPECT_TRUE(out_.changes[0].done);
}

TEST_F(zoo, a_closing_model_drains_at_its_deadline) {
  acquire(1);
  bring_up("a");
  zoo_.unload({9, "a"}, now_);
  const auto due = zoo_.tick(now_);
  ASSERT_TRUE(due);
  zoo_.tick(*due);
  EXPECT_EQ(of("a"), state::draining);
}

TEST_F(zoo, unload_while_loading_answers_the_waiters_and_cancels) {
  acquire(1);
  zoo_.measured({generation(), "a", 5, 5}, now_);
  zoo_.claim_granted({out_.last_claim.claim_id});
  zoo_.unload({9, "a"}, now_);
  EXPECT_EQ(of("a"), state::cancelling);
  EXPECT_EQ(out_.refusals.size(), 1u);
  zoo_.load_failed({generation(), "a", "cancelled", false, true}, now_);
  EXPECT_EQ(of("a"), state::absent);
  ASSERT_EQ(out_.changes.size(), 1u);
}

TEST_F(zoo, releases_are_idempotent_and_a_holder_that_dies_releases) {
  acquire(1);
  acquire(2);
  bring_up("a");
  zoo_.release({1, out_.grants[0].lease_id}, now_);
  zoo_.release({1, out_.grants[0].lease_id}, now_);
  EXPECT_EQ(zoo_.rows()[0].leases, 1u);
  zoo_.holder_down(2, now_);
  EXPECT_EQ(zoo_.rows()[0].leases, 0u);
}

TEST_F(zoo, the_keep_alive_runs_from_the_last_lease) {
  acquire(1, "b");
  bring_up("b");
  now_ += 60s;
  EXPECT_FALSE(zoo_.tick(now_)) << "a held model has no timer";
  EXPECT_EQ(of("b"), state::ready);
  zoo_.release({1, out_.grants[0].lease_id}, now_);
  EXPECT_EQ(zoo_.tick(now_), now_ + 10s);
  now_ += 9s;
  zoo_.tick(now_);
  EXPECT_EQ(of("b"), state::ready);
  now_ += 2s;
  zoo_.tick(now_);
  EXPECT_EQ(of("b"), state::draining);
  EXPECT_EQ(out_.take(), steps{"stop"});
}

TEST_F(zoo, a_model_without_a_keep_alive_stays) {
  acquire(1);
  bring_up("a");
  zoo_.release({1, out_.grants[0].lease_id}, now_);
  EXPECT_FALSE(zoo_.tick(now_));
}

TEST_F(zoo, a_crash_fails_the_model_and_a_port_that_came_back_serves_on) {
  acquire(1);
  bring_up("a");
  zoo_.started({generation(), "a", 1000, 2048, 4096}, now_);
  EXPECT_EQ(of("a"), state::ready);
  zoo_.down({generation(), "a", "died too often"}, now_);
  EXPECT_EQ(of("a"), state::failed);
  acquire(2);
  EXPECT_NE(out_.refusals.at(0).message.find("died too often"), std::string::npos);
}

TEST_F(zoo, a_model_whose_last_waiter_left_while_it_started_is_stopped) {
  acquire(1);
  zoo_.measured({generation(), "a", 1000, 4096}, now_);
  zoo_.claim_granted({out_.last_claim.claim_id});
  ASSERT_TRUE(zoo_.loaded({generation(), "a", 1000, 2048, 4096}, now_));
  zoo_.holder_down(1, now_);
  out_.take();
  zoo_.started({generation(), "a", 1000, 2048, 4096}, now_);
  EXPECT_EQ(out_.take(), steps{"stop"});
  acquire(2);
  zoo_.down({generation(), "a", ""}, now_);
  bring_up("a");
  EXPECT_EQ(out_.grants.back().request_id, 2u);
}

TEST_F(zoo, an_order_to_load_answers_the_unloading_that_it_stops) {
  acquire(1);
  bring_up("a");
  zoo_.unload({7, "a"}, now_);
  zoo_.load({8, "a"}, now_);
  ASSERT_EQ(out_.changes.size(), 2u);
  EXPECT_EQ(out_.changes[0].request_id, 7u);
  EXPECT_FALSE(out_.changes[0].done);
  EXPECT_EQ(out_.changes[1].request_id, 8u);
  EXPECT_TRUE(out_.changes[1].done);
}

TEST_F(zoo, the_back_off_grows_with_crashes_that_follow_each_other_only) {
  const auto crash_after = [this](zoo_time::duration healthy) {
    acquire(1);
    bring_up("a");
    now_ += healthy;
    zoo_.down({generation(), "a", "boom"}, now_);
    acquire(2);
    const auto delay = out_.refusals.back().retry_after_ms;
    now_ += 10min;
    return delay;
  };
  EXPECT_EQ(crash_after(1s), 1000u);
  EXPECT_EQ(crash_after(1s), 2000u);
  EXPECT_EQ(crash_after(1s), 4000u);
  EXPECT_EQ(crash_after(24h), 1000u);
}

TEST_F(zoo, an_id_comes_before_the_alias_of_another_model) {
  auto models = two_models();
  models[0].aliases = {"b"};
  recorder out;
  zoo_state named(models, 1, out);
  named.acquire({1, "b", 0, msg::no_limit}, now_);
  EXPECT_EQ(named.rows()[0].state, state::absent);
  EXPECT_EQ(named.rows()[1].state, state::claiming);
}

TEST_F(zoo, a_waiter_that_arrives_while_draining_gets_a_new_load) {
  acquire(1, "b");
  bring_up("b");
  zoo_.release({1, out_.grants[0].lease_id}, now_);
  now_ += 11s;
  zoo_.tick(now_);
  const auto old = generation();
  acquire(2, "b");
  EXPECT_EQ(of("b"), state::draining);
  zoo_.down({old, "b", ""}, now_);
  EXPECT_EQ(of("b"), state::claiming);
  EXPECT_NE(generation(), old);
}

TEST_F(zoo, a_deadline_refuses_its_waiter_and_the_load_goes_on_for_others) {
  acquire(1, "a", 2000);
  acquire(2);
  EXPECT_EQ(zoo_.tick(now_), now_ + 2s);
  now_ += 2s;
  zoo_.tick(now_);
  ASSERT_EQ(out_.refusals.size(), 1u);
  EXPECT_EQ(out_.refusals[0].request_id, 1u);
  EXPECT_EQ(out_.refusals[0].code, msg::refusal::deadline_exceeded);
  EXPECT_EQ(of("a"), state::claiming);
}

TEST_F(zoo, a_new_zoo_adopts_what_runs_and_counts_what_is_announced) {
  recorder out;
  zoo_state second(two_models(), 2, out);
  second.announce({5, 77, 3, "a"});
  second.started({3, "a", 1000, 2048, 4096}, now_);
  EXPECT_EQ(second.rows()[0].state, state::ready);
  EXPECT_EQ(second.rows()[0].leases, 1u);
  second.acquire({6, "a", 0, msg::no_limit}, now_);
  ASSERT_EQ(out.grants.size(), 1u);
  EXPECT_EQ(out.grants[0].generation, 3u);
  EXPECT_NE(out.grants[0].lease_id, 77u);
  second.release({5, 77}, now_);
  EXPECT_EQ(second.rows()[0].leases, 1u);
}

TEST_F(zoo, a_new_zoo_adopts_what_runs_in_place_of_its_own_load) {
  for (const bool is_loading : {false, true}) {
    recorder out;
    zoo_state second(two_models(), 2, out);
    second.acquire({6, "a", 0, msg::no_limit}, now_);
    const std::uint32_t own = out.last_measure.generation;
    second.measured({own, "a", 1000, 4096}, now_);
    if (is_loading) second.claim_granted({out.last_claim.claim_id});
    out.take();
    second.started({3, "a", 1000, 2048, 4096}, now_);
    EXPECT_EQ(out.take(), steps{is_loading ? "cancel_load" : "cancel_claim"});
    ASSERT_EQ(out.grants.size(), 1u);
    EXPECT_EQ(out.grants[0].generation, 3u);
    EXPECT_FALSE(second.loaded({own, "a", 1000, 2048, 4096}, now_)) << "nobody wants the second copy";
    second.load_failed({own, "a", "cancelled", false, true}, now_);
    EXPECT_EQ(second.rows()[0].state, state::ready);
  }
}

TEST_F(zoo, a_copy_that_took_the_place_of_an_older_one_is_the_one_that_runs) {
  recorder out;
  zoo_state second(two_models(), 2, out);
  second.acquire({6, "a", 0, msg::no_limit}, now_);
  const std::uint32_t own = out.last_measure.generation;
  second.measured({own, "a", 1000, 4096}, now_);
  second.claim_granted({out.last_claim.claim_id});
  ASSERT_TRUE(second.loaded({own, "a", 1000, 2048, 4096}, now_));
  second.started({3, "a", 1000, 2048, 4096}, now_);  // had been sent before the copy's start was known
  second.started({own, "a", 1000, 2048, 4096}, now_);
  second.acquire({7, "a", 0, msg::no_limit}, now_);
  EXPECT_EQ(out.grants.back().generation, own);
  second.unload({8, "a"}, now_);
  second.holder_down(6, now_);
  second.holder_down(7, now_);
  second.down({own, "a", ""}, now_);
  EXPECT_EQ(second.rows()[0].state, state::absent);
}

}  // namespace
}  // namespace infer::actors
