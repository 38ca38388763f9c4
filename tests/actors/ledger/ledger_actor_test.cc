// The ledger as an actor: answers, expiry after five seconds, claimants that die.
#include "actors/ledger/ledger_actor.h"

#include <gtest/gtest.h>

#include "tests/actors/virtual_clock.h"

namespace infer::actors {
namespace {

using namespace std::chrono_literals;
using test_support::virtual_clock;

struct answers {
  std::vector<std::uint64_t> granted, waiting, refused;
};

claimant::behavior_type listen(claimant::pointer, std::shared_ptr<answers> a) {
  return {
      [a](const msg::claim_granted& m) { a->granted.push_back(m.claim_id); },
      [a](const msg::claim_waiting& m) { a->waiting.push_back(m.claim_id); },
      [a](const msg::claim_refused& m) { a->refused.push_back(m.claim_id); },
  };
}

class ledger : public testing::Test {
 protected:
  ledger() {
    ledger_ = caf::actor_cast<ledger_actor>(clock_.system().spawn(run_ledger, budget_));
    first_ = clock_.system().spawn(listen, a_);
    second_ = clock_.system().spawn(listen, b_);
    clock_.settle();
  }
  ~ledger() override {
    for (auto& c : {first_, second_}) caf::anon_send_exit(c, caf::exit_reason::kill);
    caf::anon_send_exit(ledger_, caf::exit_reason::kill);
    first_ = second_ = nullptr;
    ledger_ = nullptr;
    clock_.settle();
  }
  void claim(std::uint64_t id, std::uint64_t bytes, const claimant& who) {
    caf::anon_send(ledger_, msg::claim_memory{id, bytes}, who);
    clock_.settle();
  }

  virtual_clock clock_;
  std::shared_ptr<memory::budget> budget_ = memory::budget::make(100);
  std::shared_ptr<answers> a_ = std::make_shared<answers>(), b_ = std::make_shared<answers>();
  ledger_actor ledger_;
  claimant first_, second_;
};

TEST_F(ledger, freed_bytes_reach_who_waits) {
  claim(1, 80, first_);
  auto lease = budget_->take_earmarked(1, memory::memory_kind::weights, 80);
  claim(2, 50, second_);
  EXPECT_EQ(b_->waiting, std::vector<std::uint64_t>{2});
  lease.reset();
  clock_.settle();
  EXPECT_EQ(b_->granted, std::vector<std::uint64_t>{2});
}

TEST_F(ledger, an_earmark_that_nobody_takes_goes_back_after_five_seconds) {
  claim(1, 80, first_);
  claim(2, 50, second_);
  clock_.advance(4990ms, 10ms);
  EXPECT_TRUE(b_->granted.empty());
  clock_.advance(20ms, 10ms);
  EXPECT_EQ(b_->granted, std::vector<std::uint64_t>{2});
}

TEST_F(ledger, a_claimant_that_dies_gives_its_earmark_back) {
  claim(1, 80, first_);
  claim(2, 50, second_);
  caf::anon_send_exit(first_, caf::exit_reason::kill);
  clock_.settle();
  EXPECT_EQ(b_->granted, std::vector<std::uint64_t>{2});
}

TEST_F(ledger, a_claim_beyond_the_budget_is_refused_at_once) {
  claim(1, 101, first_);
  EXPECT_EQ(a_->refused, std::vector<std::uint64_t>{1});
}

}  // namespace
}  // namespace infer::actors
