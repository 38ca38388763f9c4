// A front passes on, waits without a child, and never answers itself.
#include "actors/support/front.h"

#include <gtest/gtest.h>

#include "tests/actors/virtual_clock.h"

namespace infer::actors {
namespace {

using test_support::virtual_clock;

caf::behavior doubler(caf::event_based_actor* self, std::shared_ptr<std::vector<int>> seen) {
  return {[=](int x) {
    if (x < 0) {
      self->quit(caf::make_error(caf::sec::runtime_error));
      return 0;
    }
    seen->push_back(x);
    return 2 * x;
  }};
}

TEST(front, keeps_messages_until_there_is_a_child_and_in_their_order) {
  virtual_clock clock;
  caf::actor front = clock.system().spawn(run_front, std::string("x"));
  clock.settle();
  for (int i = 0; i < 20; ++i) caf::anon_send(front, i);
  clock.settle();
  auto seen = std::make_shared<std::vector<int>>();
  caf::actor child = clock.system().spawn(doubler, seen);
  set_front(front, child);
  clock.settle();
  ASSERT_EQ(seen->size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ((*seen)[i], i);
  caf::anon_send_exit(child, caf::exit_reason::kill);
  caf::anon_send_exit(front, caf::exit_reason::kill);
}

TEST(front, replies_go_straight_to_who_asked_and_a_new_child_takes_over) {
  virtual_clock clock;
  caf::actor front = clock.system().spawn(run_front, std::string("x"));
  auto seen = std::make_shared<std::vector<int>>();
  caf::actor child = clock.system().spawn(doubler, seen);
  set_front(front, child);
  int answer = 0, errors = 0;
  const auto ask = [&](int x) {
    return clock.system().spawn([&answer, &errors, front, x](caf::event_based_actor* self) {
      self->request(front, caf::infinite, x)
          .then([&answer](int y) { answer = y; }, [&errors](const caf::error&) { ++errors; });
    });
  };
  ask(21);
  clock.settle();
  EXPECT_EQ(answer, 42);
  caf::anon_send(child, -1);
  clock.settle();
  ask(4);
  clock.settle();
  EXPECT_EQ(answer, 42) << "waits: there is no child";
  caf::actor second = clock.system().spawn(doubler, seen);
  set_front(front, second);
  clock.settle();
  EXPECT_EQ(answer, 8);
  EXPECT_EQ(errors, 0);
  caf::anon_send_exit(second, caf::exit_reason::kill);
  caf::anon_send_exit(front, caf::exit_reason::kill);
}

}  // namespace
}  // namespace infer::actors
