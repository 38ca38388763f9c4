// Small values that several conversations share.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace infer::msg {

/// An f32 that travels as its bits: CAF's serializer changes NaN, −0 and subnormals and never returns from infinity.
struct f32_bits {
  std::uint32_t bits = 0;

  f32_bits() = default;
  f32_bits(float value) : bits(std::bit_cast<std::uint32_t>(value)) {}  // NOLINT: a float is what it stands for
  float value() const { return std::bit_cast<float>(bits); }
  friend bool operator==(const f32_bits&, const f32_bits&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, f32_bits& x) {
  return f(x.bits);
}

/// Names one choice of one request across every attempt to compute it. `generation` is the model's, so that what was
/// meant for an earlier load is recognised.
struct stream_key {
  std::uint64_t request_id = 0;
  std::uint32_t generation = 0;
  std::uint32_t choice = 0;
  friend bool operator==(const stream_key&, const stream_key&) = default;
  friend auto operator<=>(const stream_key&, const stream_key&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, stream_key& x) {
  return f(x.request_id, x.generation, x.choice);
}

/// Why something was refused, independent of any dialect. protocol/http/status.h maps it to status, type and code.
enum class refusal : std::uint8_t {
  invalid_value,            // a field that makes no sense
  unsupported_value,        // a field or value whose feature is not there
  context_length_exceeded,  // the prompt does not fit
  model_not_found,
  model_failed,  // the model could not be loaded; the message says why
  no_memory,
  overloaded,     // a queue is full
  model_loading,  // the estimated wait exceeds what the caller allows
  deadline_exceeded,
  shutting_down,
  internal,  // a bug here
};

/// No limit, where a message carries a count that may be absent.
inline constexpr std::uint32_t no_limit = std::numeric_limits<std::uint32_t>::max();

}  // namespace infer::msg
