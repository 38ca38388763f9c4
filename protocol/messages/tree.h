// Between supervisors and their children, and the status that every component reports.
#pragma once

#include "protocol/messages/scalars.h"

namespace infer::msg {

/// supervisor to itself: start child `name` again if its generation is still this one.
struct restart_child {
  std::string name;
  std::uint64_t generation = 0;
};

/// Whoever ends a supervisor: stop all children in reverse order, then end.
struct stop_children {
  std::uint32_t grace_ms = 2000;
};

/// supervisor → front, together with the child's handle.
struct front_target {
  std::uint8_t unused = 0;
};

/// One actor of the tree as `infer-node ps` prints it.
struct child_row {
  std::string name;
  std::uint32_t depth = 0;
  std::string state;  // running, restarting, stopped
  std::uint32_t restarts = 0;
};

struct report_children {
  std::uint64_t request_id = 0;
};
struct children_report {
  std::uint64_t request_id = 0;
  std::vector<child_row> rows;
};

template <class I>
auto inspect(I& f, restart_child& x) {
  return f(x.name, x.generation);
}
template <class I>
auto inspect(I& f, stop_children& x) {
  return f(x.grace_ms);
}
template <class I>
auto inspect(I& f, front_target& x) {
  return f(x.unused);
}
template <class I>
auto inspect(I& f, child_row& x) {
  return f(x.name, x.depth, x.state, x.restarts);
}
template <class I>
auto inspect(I& f, report_children& x) {
  return f(x.request_id);
}
template <class I>
auto inspect(I& f, children_report& x) {
  return f(x.request_id, x.rows);
}

}  // namespace infer::msg
