// Routes and flags.
#include "actors/model/port_state.h"

#include <algorithm>
#include <caf/all.hpp>

namespace infer::actors {

stream_table::stream_table(model_core& core) : core_(core) {
  for (std::uint32_t flag = 0; flag < max_streams; ++flag) free_flags_.push_back(flag);
}

route_result stream_table::open(const msg::stream_key& key, std::uint32_t attempt, const stream_sink& sink) {
  if (const auto at = streams_.find(key); at != streams_.end()) {
    if (at->second.attempt >= attempt) return route_result::known;
    forget(at, true);
  }
  if (free_flags_.empty()) return route_result::full;
  const std::uint32_t flag = free_flags_.front();
  free_flags_.pop_front();
  core_.cancel[flag].reset();
  streams_.emplace(key, routed_stream{sink, attempt, flag});
  return route_result::opened;
}

const routed_stream* stream_table::find(const msg::stream_key& key) const {
  const auto at = streams_.find(key);
  return at == streams_.end() ? nullptr : &at->second;
}

bool stream_table::cancel(const msg::stream_key& key) {
  const auto at = streams_.find(key);
  if (at == streams_.end()) return false;
  forget(at, true);
  return true;
}

void stream_table::ended(const msg::stream_key& key) {
  if (const auto at = streams_.find(key); at != streams_.end()) forget(at, false);
}

std::vector<msg::stream_key> stream_table::drop(const caf::actor_addr& sink) {
  std::vector<msg::stream_key> keys;
  for (auto at = streams_.begin(); at != streams_.end();) {
    if (at->second.sink.address() != sink) {
      ++at;
      continue;
    }
    keys.push_back(at->first);
    at = forget(at, true);
  }
  return keys;
}

std::vector<stream_sink> stream_table::drop_all() {
  std::vector<stream_sink> sinks;
  for (auto at = streams_.begin(); at != streams_.end();) {
    if (std::ranges::find(sinks, at->second.sink) == sinks.end()) sinks.push_back(at->second.sink);
    at = forget(at, true);
  }
  return sinks;
}

bool stream_table::serves(const caf::actor_addr& sink) const {
  return std::ranges::any_of(streams_, [&](const auto& entry) { return entry.second.sink.address() == sink; });
}

stream_table::streams::iterator stream_table::forget(streams::iterator at, bool set_flag) {
  if (set_flag) core_.cancel[at->second.flag].set();
  free_flags_.push_back(at->second.flag);
  return streams_.erase(at);
}

}  // namespace infer::actors
