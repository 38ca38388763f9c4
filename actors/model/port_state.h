// What a port knows: which streams are open, which flag each has, to whom their tokens go. No behaviour in here.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "actors/model/model_core.h"
#include "protocol/interfaces/actors.h"

namespace infer::actors {

/// One open stream.
struct routed_stream {
  stream_sink sink;
  std::uint32_t attempt = 0;
  std::uint32_t flag = 0;
};

enum class route_result : std::uint8_t { opened, known, full };

/// Threads: one. The flags it hands out are shared with decode. A flag is reused as late as possible: the close of its
/// last stream must have reached decode by then.
class stream_table {
 public:
  explicit stream_table(model_core& core);

  /// Makes a route for (key, attempt). `known`: that attempt is open already; `full`: no flag is free. An older attempt
  /// is cancelled and replaced.
  route_result open(const msg::stream_key& key, std::uint32_t attempt, const stream_sink& sink);
  const routed_stream* find(const msg::stream_key& key) const;
  /// Sets the stream's flag and forgets it. False where it is unknown.
  bool cancel(const msg::stream_key& key);
  /// The stream has ended by itself: forgets it without a cancel.
  void ended(const msg::stream_key& key);
  /// Cancels all streams of a sink that is gone; returns their keys.
  std::vector<msg::stream_key> drop(const caf::actor_addr& sink);
  /// Cancels every stream; returns their sinks, each once.
  std::vector<stream_sink> drop_all();

  bool serves(const caf::actor_addr& sink) const;
  std::size_t size() const { return streams_.size(); }

 private:
  using streams = std::map<msg::stream_key, routed_stream>;
  streams::iterator forget(streams::iterator at, bool set_flag);

  model_core& core_;
  streams streams_;
  std::deque<std::uint32_t> free_flags_;
};

}  // namespace infer::actors
