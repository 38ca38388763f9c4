// What the machine can do at most: raw reading of memory, and the peak rates of the instructions that kernels rest on.
// For benches and for people who ask; nothing that computes reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace infer::threads {

/// Huge-page memory of `threads` parts, each touched by the thread that reads it.
/// Errors:  std::bad_alloc where the memory is not there.
/// Threads: one caller; measuring starts `threads` threads of its own for each call.
class read_roof {
 public:
  read_roof(std::uint32_t threads, std::size_t bytes_per_thread);
  ~read_roof();
  read_roof(const read_roof&) = delete;
  read_roof& operator=(const read_roof&) = delete;

  /// Bytes per second of all threads together, over at least `seconds`.
  double measure(double seconds);

 private:
  std::size_t bytes_;
  std::vector<std::byte*> parts_;
};

/// One instruction sequence and its operations per call; null where this CPU lacks it.
struct peak_loop {
  std::string_view name;
  std::string_view unit;       // "GOP/s" of 8-bit multiplies and adds, "GFLOP/s" of f32
  double operations_per_turn;  // a turn is one pass over the accumulators
  void (*run)(std::uint64_t turns);
};

/// Integer dots and float FMAs of every width that this CPU has.
std::vector<peak_loop> peak_loops();

/// Operations per second of `threads` threads that run `loop` at once for about `seconds`.
double measure_peak(const peak_loop& loop, std::uint32_t threads, double seconds);

}  // namespace infer::threads
