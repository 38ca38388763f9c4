// What every connection of a server shares, sockets' side.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "actors/gateway/server_shared.h"

namespace infer::actors {

class session;

struct server_core : server_shared {
  explicit server_core(gateway_config c) : server_shared(std::move(c)) {}

  boost::asio::io_context io{2};
  boost::asio::thread_pool parser{1};

  /// Sessions under way. Threads: any.
  std::uint64_t add();
  void announce(std::uint64_t id, std::weak_ptr<session> one);
  void remove(std::uint64_t id);
  std::size_t count();
  std::vector<std::shared_ptr<session>> all();

 private:
  std::mutex sessions_mutex_;
  std::uint64_t next_id_ = 0;
  std::unordered_map<std::uint64_t, std::weak_ptr<session>> sessions_;
};

}  // namespace infer::actors
