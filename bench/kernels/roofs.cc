// roofs [CSV]: this machine's raw read rate, integer dot peak and FMA peak, with one thread and with all.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/support/csv.h"
#include "bench/support/machine.h"
#include "engine/threads/roofs.h"

namespace infer::bench {
namespace {

constexpr std::uint32_t runs = 5;

/// Takes `runs` values of `measure`, prints their median and spread in units of 10⁹, and records each.
template <class Measure>
void report(csv_file& csv, const std::string& name, std::uint32_t threads, const char* unit, Measure measure) {
  std::vector<double> values;
  for (std::uint32_t run = 0; run < runs; ++run) {
    values.push_back(measure() * 1e-9);
    csv.add(name, "threads=" + std::to_string(threads), run, values.back(), unit);
  }
  std::sort(values.begin(), values.end());
  std::printf("%-24s %2u threads  %10.1f %-8s (%.1f - %.1f)\n", name.c_str(), threads, median(values), unit,
              values.front(), values.back());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  csv_file csv(argc > 1 ? argv[1] : "", command_of(argc, argv));
  std::printf("%s\n", machine_name().c_str());
  const std::uint32_t all = usable_cores();
  std::vector<std::uint32_t> team_sizes{1};
  if (all > 1) team_sizes.push_back(all);
  const std::size_t kib = 1024, mib = 1024 * kib;
  for (const std::uint32_t threads : team_sizes) {
    for (const std::size_t bytes : {2 * mib, 32 * mib, 1024 * mib}) {
      read_roof roof(threads, bytes);
      report(csv, "read " + std::to_string(bytes / mib) + " MiB/thread", threads, "GB/s",
             [&] { return roof.measure(0.1); });
    }
    for (const peak_loop& loop : peak_loops())
      report(csv, std::string(loop.name), threads, loop.unit.data(), [&] { return measure_peak(loop, threads, 0.05); });
  }
  return 0;
}

}  // namespace
}  // namespace infer::bench

int main(int argc, char** argv) {
  return infer::bench::run(argc, argv);
}
