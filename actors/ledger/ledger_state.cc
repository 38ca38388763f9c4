// The line.
#include "actors/ledger/ledger_state.h"

#include <algorithm>
#include <string>

namespace infer::actors {

namespace {

/// In the unit of the flag that sets the budget, so that what is said to be needed is enough.
std::string mebibytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

claim_result claim_line::claim(std::uint64_t claim_id, std::uint64_t bytes) {
  const memory::budget_numbers numbers = budget_->numbers();
  if (bytes > numbers.total) {
    return {
        claim_answer::refused, bytes - numbers.total,
        "it needs " + mebibytes(bytes + (1u << 20) - 1) + " of memory, but the budget is " + mebibytes(numbers.total)};
  }
  if (line_.empty() && budget_->earmark(claim_id, bytes)) return {claim_answer::granted, 0, {}};
  line_.push_back({claim_id, bytes});
  tell();
  return {claim_answer::waiting, bytes > numbers.free ? bytes - numbers.free : 0, {}};
}

void claim_line::cancel(std::uint64_t claim_id) {
  std::erase_if(line_, [&](const waiter& w) { return w.claim_id == claim_id; });
  tell();
  budget_->drop_earmark(claim_id);
}

std::vector<std::uint64_t> claim_line::advance() {
  std::vector<std::uint64_t> granted;
  while (!line_.empty() && budget_->earmark(line_.front().claim_id, line_.front().bytes)) {
    granted.push_back(line_.front().claim_id);
    line_.pop_front();
  }
  tell();
  return granted;
}

void claim_line::tell() {
  std::uint64_t bytes = 0;
  for (const waiter& w : line_) bytes += w.bytes;
  budget_->set_awaited(bytes);
}

}  // namespace infer::actors
