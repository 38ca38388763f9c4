// Claims in line for memory. No actor in here.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/memory/budget.h"

namespace infer::actors {

enum class claim_answer : std::uint8_t { granted, waiting, refused };

struct claim_result {
  claim_answer answer = claim_answer::waiting;
  std::uint64_t missing = 0;  // bytes that have to become free first
  std::string message;        // why it is refused
};

/// First come, first served: freed bytes go to the first in line, nobody passes. A waiter holds nothing.
/// Threads: one; the budget is shared.
class claim_line {
 public:
  explicit claim_line(std::shared_ptr<memory::budget> budget) : budget_(std::move(budget)) {}

  claim_result claim(std::uint64_t claim_id, std::uint64_t bytes);
  /// Gives up a claim in any state; what a loader has taken stays with its lease.
  void cancel(std::uint64_t claim_id);
  /// An earmark's time is over: what has not been taken goes back. Returns the bytes.
  std::uint64_t expire(std::uint64_t claim_id) { return budget_->drop_earmark(claim_id); }
  /// Bytes became free: the claims that are granted now, in order.
  std::vector<std::uint64_t> advance();

  std::size_t waiting() const { return line_.size(); }

 private:
  struct waiter {
    std::uint64_t claim_id, bytes;
  };
  /// Tells the budget what the line waits for.
  void tell();

  std::shared_ptr<memory::budget> budget_;
  std::deque<waiter> line_;
};

}  // namespace infer::actors
