// The zoo as an actor among fakes: leases reach who asked, a new zoo finds what runs and who holds it.
#include "actors/zoo/zoo_actor.h"

#include <gtest/gtest.h>

#include "actors/support/shutdown.h"
#include "tests/actors/virtual_clock.h"

namespace infer::actors {
namespace {

using namespace std::chrono_literals;
using test_support::virtual_clock;

/// What the fakes were told, and how they answer.
struct world {
  std::vector<std::string> log;
  std::vector<msg::lease_granted> grants;
  std::vector<msg::lease_refused> refusals;
  std::vector<msg::model_row> rows;
  std::vector<msg::model_changed> changes;
  bool fail_load = false;
  port_actor port;
  models_sink zoo_of_models;
};
using world_ptr = std::shared_ptr<world>;

ledger_actor::behavior_type fake_ledger(ledger_actor::pointer self, world_ptr w) {
  return {
      [=](const msg::claim_memory& m, const claimant& who) {
        w->log.push_back("claim");
        self->send(who, msg::claim_granted{m.claim_id});
      },
      [=](const msg::cancel_claim&) { w->log.push_back("cancel_claim"); },
      [](const msg::memory_freed&) {},
  };
}

loader_actor::behavior_type fake_loader(loader_actor::pointer self, world_ptr w) {
  return {
      [=](const msg::measure_model& m, const loader_sink& who) {
        w->log.push_back("measure");
        self->send(who, msg::model_measured{m.generation, m.source.id, 10, 64});
      },
      [=](const msg::load_weights& m, const loader_sink& who) {
        w->log.push_back("load");
        if (w->fail_load)
          self->send(who, msg::load_failed{m.generation, m.source.id, "no good", false, false});
        else
          self->send(who, msg::model_loaded{m.generation, m.source.id, 10, 64, 64}, msg::model_handle{});
      },
      [=](const msg::cancel_load&) { w->log.push_back("cancel_load"); },
  };
}

port_actor::behavior_type fake_port(port_actor::pointer) {
  return {
      [](const msg::grant&) {},
      [](const msg::open_stream&, const stream_sink&) {},
      [](const msg::close_stream&) {},
      [](const msg::encode_prompt&, const stream_sink&) {},
      [](const msg::decode_ids&, const stream_sink&) {},
  };
}

models_actor::behavior_type fake_models(models_actor::pointer self, world_ptr w) {
  return {
      [=](const msg::start_model& m, const msg::model_handle&, const models_sink& who) {
        w->log.push_back("start");
        w->zoo_of_models = who;
        self->send(who, msg::model_started{m.generation, m.id, 10, 64, 64}, w->port, msg::model_watch{});
      },
      [=](const msg::stop_model& m) {
        w->log.push_back("stop");
        self->send(w->zoo_of_models, msg::model_down{m.generation, m.id, {}});
      },
      [=](const msg::who_runs&, const models_sink& who) {
        w->log.push_back("who_runs");
        w->zoo_of_models = who;
        self->send(who, msg::model_started{77, "m", 10, 64, 64}, w->port, msg::model_watch{});
      },
  };
}

requests_actor::behavior_type fake_requests(requests_actor::pointer, world_ptr w) {
  return {
      [](const msg::generate&, const event_sink&) {},
      [=](const msg::who_holds&) { w->log.push_back("who_holds"); },
  };
}

lease_sink::behavior_type fake_request(lease_sink::pointer, world_ptr w) {
  return {
      [=](const msg::lease_granted& m, const port_actor&) { w->grants.push_back(m); },
      [](const msg::lease_waiting&) {},
      [=](const msg::lease_refused& m) { w->refusals.push_back(m); },
      [](const msg::who_holds&) {},
  };
}

admin_sink::behavior_type fake_admin(admin_sink::pointer, world_ptr w) {
  return {
      [=](const msg::model_list& m) { w->rows = m.models; },
      [=](const msg::model_changed& m) { w->changes.push_back(m); },
  };
}

class zoo_among_fakes : public testing::Test {
 protected:
  void start(std::uint64_t epoch = 1) {
    auto& sys = clock_.system();
    w_->port = sys.spawn(fake_port);
    zoo_config config;
    zoo_model model;
    model.source.id = "m";
    model.keep_alive = 10s;
    config.models = {model};
    config.epoch = epoch;
    config.ledger = ledger_ = sys.spawn(fake_ledger, w_);
    config.loader = loader_ = sys.spawn(fake_loader, w_);
    config.models_supervisor = models_ = sys.spawn(fake_models, w_);
    if (epoch > 1) config.requests = requests_ = sys.spawn(fake_requests, w_);
    zoo_ = sys.spawn(run_zoo, std::move(config));
    first_ = sys.spawn(fake_request, w_);
    second_ = sys.spawn(fake_request, w_);
    admin_ = sys.spawn(fake_admin, w_);
    clock_.settle();
  }
  ~zoo_among_fakes() override {
    w_->zoo_of_models = nullptr;
    end(zoo_), end(ledger_), end(loader_), end(models_), end(requests_), end(first_), end(second_), end(admin_),
        end(w_->port);
    clock_.settle();
  }
  template <class Handle>
  void end(Handle& handle) {
    if (handle) exit_now(caf::actor_cast<caf::actor>(handle), caf::exit_reason::kill);
    handle = nullptr;
  }
  void acquire(std::uint64_t request, const lease_sink& who) {
    caf::anon_send(zoo_, msg::acquire{request, "m", 0, msg::no_limit}, who);
    clock_.settle();
  }
  msg::model_row row() {
    caf::anon_send(zoo_, msg::list_models{1}, admin_);
    clock_.settle();
    return w_->rows.at(0);
  }

  virtual_clock clock_;
  world_ptr w_ = std::make_shared<world>();
  inner_zoo_actor zoo_;
  ledger_actor ledger_;
  loader_actor loader_;
  models_actor models_;
  requests_actor requests_;
  lease_sink first_, second_;
  admin_sink admin_;
};

TEST_F(zoo_among_fakes, brings_a_model_up_for_who_asks_and_shares_it) {
  start();
  acquire(1, first_);
  EXPECT_EQ(w_->log, (std::vector<std::string>{"measure", "claim", "load", "start"}));
  ASSERT_EQ(w_->grants.size(), 1u);
  acquire(2, second_);
  ASSERT_EQ(w_->grants.size(), 2u);
  EXPECT_EQ(row().leases, 2u);
}

TEST_F(zoo_among_fakes, a_holder_that_dies_gives_its_lease_back_and_the_keep_alive_unloads) {
  start();
  acquire(1, first_);
  end(first_);
  clock_.settle();
  EXPECT_EQ(row().leases, 0u);
  clock_.advance(9900ms, 100ms);
  EXPECT_EQ(row().state, msg::model_state::ready);
  clock_.advance(200ms, 10ms);
  EXPECT_EQ(row().state, msg::model_state::absent);
  EXPECT_EQ(w_->log.back(), "stop");
}

TEST_F(zoo_among_fakes, a_failed_load_is_told) {
  w_->fail_load = true;
  start();
  acquire(1, first_);
  ASSERT_EQ(w_->refusals.size(), 1u);
  EXPECT_NE(w_->refusals[0].message.find("no good"), std::string::npos);
}

TEST_F(zoo_among_fakes, orders_of_administrators_are_answered) {
  start();
  caf::anon_send(zoo_, msg::load_model{5, "m"}, admin_);
  clock_.settle();
  caf::anon_send(zoo_, msg::unload_model{6, "m"}, admin_);
  clock_.settle();
  ASSERT_EQ(w_->changes.size(), 2u);
  EXPECT_TRUE(w_->changes[0].done && w_->changes[1].done);
  EXPECT_EQ(w_->changes[1].model.state, msg::model_state::absent);
}

TEST_F(zoo_among_fakes, while_a_port_is_down_who_asks_waits_for_the_next_one) {
  start();
  acquire(1, first_);
  ASSERT_EQ(w_->grants.size(), 1u);
  end(w_->port);
  clock_.settle();
  acquire(2, second_);
  EXPECT_EQ(w_->grants.size(), 1u) << "no lease on a dead port";
  EXPECT_EQ(row().state, msg::model_state::ready);
  w_->port = clock_.system().spawn(fake_port);
  caf::anon_send(w_->zoo_of_models, msg::model_started{w_->grants[0].generation, "m", 10, 64, 64}, w_->port,
                 msg::model_watch{});
  clock_.settle();
  ASSERT_EQ(w_->grants.size(), 2u);
  EXPECT_EQ(w_->grants[1].request_id, 2u);
}

TEST_F(zoo_among_fakes, a_new_zoo_asks_what_runs_and_who_holds_it_and_goes_on) {
  start(2);
  EXPECT_EQ(w_->log, (std::vector<std::string>{"who_runs", "who_holds"}));
  EXPECT_EQ(row().state, msg::model_state::ready);
  caf::anon_send(zoo_, msg::announce{1, 11, 77, "m"}, first_, w_->port);
  clock_.settle();
  EXPECT_EQ(row().leases, 1u);
  acquire(2, second_);
  ASSERT_EQ(w_->grants.size(), 1u);
  EXPECT_EQ(w_->grants[0].generation, 77u);
  EXPECT_EQ(w_->log.size(), 2u) << "nothing is loaded again";
  end(first_);
  clock_.settle();
  EXPECT_EQ(row().leases, 1u) << "an announced holder is watched too";
}

}  // namespace
}  // namespace infer::actors
