// How much a template may do, and what it has done.
#pragma once

#include <cstdint>
#include <string>

#include "engine/templates/evaluated.h"
#include "engine/templates/fault.h"
#include "engine/templates/value.h"

namespace infer::templates {

/// Templates come with models and are not trusted. Every bound that is passed is fault::limit.
struct render_limits {
  std::uint64_t steps = 10'000'000;  // expressions evaluated, values made or walked, 64 bytes copied
  std::uint32_t depth = 700;         // nested evaluations, statements and macro calls
  std::uint64_t output_bytes = 64u << 20;
  std::uint64_t value_bytes = 128u << 20;  // one string, or everything inside one list or dictionary
};

/// The account of one rendering.
class budget {
 public:
  explicit budget(const render_limits& limits) : limits_(limits), left_(limits.steps) {}

  evaluated<void> spend(std::uint64_t steps) {
    if (!try_spend(steps)) return too_many_steps();
    return success();
  }
  /// The same where the caller goes on in another way; nothing is spent where it is false.
  bool try_spend(std::uint64_t steps) {
    if (steps > left_) return false;
    left_ -= steps;
    return true;
  }
  std::uint64_t spent() const { return limits_.steps - left_; }
  /// For a value that has grown to this many bytes.
  evaluated<void> allow_bytes(std::uint64_t bytes) const {
    if (bytes > limits_.value_bytes) return too_many_bytes();
    return success();
  }
  /// For reading or writing this many bytes.
  evaluated<void> spend_bytes(std::uint64_t bytes) {
    INFER_TRYV(allow_bytes(bytes));
    return spend(bytes / 64 + 1);
  }
  /// For a value just made.
  evaluated<void> accept(const value& made) {
    if (made.depth() > max_value_depth) return fail(fault::limit, "values nested too deeply");
    if (made.weight() > limits_.value_bytes) return spend_bytes(made.weight());
    return spend_bytes(made.own_bytes());
  }

  const render_limits& limits() const { return limits_; }

 private:
  evaluated<void> too_many_steps() const;
  evaluated<void> too_many_bytes() const;

  render_limits limits_;
  std::uint64_t left_;
};

}  // namespace infer::templates
