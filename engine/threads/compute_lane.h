// A fair lock on a device: who computes next. Decodes of different models and the packing of a loader take turns.
//
// Hazards: a leaf lock. Its holder never waits for a message, the ledger, a disk, a device or an actor.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "engine/threads/compute_pool.h"

namespace infer::threads {

/// First come, first served. Who has the turn may use the pool.
/// Threads: any. Waiting sleeps.
class compute_lane {
 public:
  explicit compute_lane(std::uint32_t threads = 1) : pool_(threads) {}

  compute_pool& pool() { return pool_; }

  class turn {
   public:
    explicit turn(compute_lane& lane) : lane_(lane) { lane_.enter(); }
    ~turn() { lane_.leave(); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

   private:
    compute_lane& lane_;
  };

  /// How many wait behind the holder.
  std::uint64_t waiting() const;

 private:
  void enter();
  void leave();

  compute_pool pool_;
  mutable std::mutex mutex_;
  std::condition_variable next_;
  std::uint64_t last_ticket_ = 0, serving_ = 0;
};

}  // namespace infer::threads
