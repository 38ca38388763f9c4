// What a watcher leaves behind in the actor that it watched.
#include "actors/support/watch.h"

#include <gtest/gtest.h>

#include "tests/actors/virtual_clock.h"

namespace infer::actors {
namespace {

using test_support::virtual_clock;

struct watching {
  watching() {}
  watch one;
};

caf::behavior idle(caf::event_based_actor*) {
  return {[](int) {}};
}

caf::behavior watch_one(caf::stateful_actor<watching>* self, const caf::actor& whom, std::shared_ptr<bool> heard) {
  self->set_down_handler([heard](const caf::down_msg&) { *heard = true; });
  self->state.one = watch(self, whom);
  return {[self, heard](const caf::actor& other) { self->state.one = watch(self, other); }};
}

class watching_actors : public testing::Test {
 protected:
  void end(const caf::actor& who) {
    caf::anon_send_exit(who, caf::exit_reason::kill);
    clock_.settle();
  }

  virtual_clock clock_;
  std::shared_ptr<bool> heard_ = std::make_shared<bool>(false);
};

TEST_F(watching_actors, the_end_of_the_watched_is_heard) {
  const caf::actor watched = clock_.system().spawn(idle);
  const caf::actor watcher = clock_.system().spawn(watch_one, watched, heard_);
  clock_.settle();
  end(watched);
  EXPECT_TRUE(*heard_);
  end(watcher);
}

TEST_F(watching_actors, a_watcher_that_ends_leaves_nothing_behind) {
  const caf::actor watched = clock_.system().spawn(idle);
  caf::actor_addr address;
  {
    const caf::actor watcher = clock_.system().spawn(watch_one, watched, heard_);
    address = watcher.address();
    clock_.settle();
    end(watcher);
  }
  EXPECT_EQ(address.get()->strong_refs, 0u);
  EXPECT_EQ(address.get()->weak_refs, 1u) << "only this test knows its address";
  end(watched);
}

TEST_F(watching_actors, another_one_takes_the_place_of_the_first) {
  const caf::actor first = clock_.system().spawn(idle), second = clock_.system().spawn(idle);
  const caf::actor watcher = clock_.system().spawn(watch_one, first, heard_);
  caf::anon_send(watcher, second);
  clock_.settle();
  end(first);
  EXPECT_FALSE(*heard_);
  end(second);
  EXPECT_TRUE(*heard_);
  end(watcher);
}

}  // namespace
}  // namespace infer::actors
