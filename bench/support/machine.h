// What a bench must know about the machine it runs on: its name, its roofs, and how much of it other work took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/threads/compute_pool.h"
#include "engine/threads/roofs.h"

namespace infer::bench {

/// The CPU's model name and how many of its cores this process may use.
std::string machine_name();
using threads::measure_peak;
using threads::peak_loop;
using threads::peak_loops;
using threads::read_roof;
using threads::usable_cores;
/// Today as 2024-06-11.
std::string today();

/// Seconds of CPU time since boot: of everything that ran, and of this process and the children it has waited for.
struct cpu_times {
  double wall = 0, all = 0, own = 0;
  static cpu_times now();
};

/// The share of this machine's CPU time between two readings that other work took, from 0 to 1.
double foreign_share(const cpu_times& from, const cpu_times& to);

/// The median of values; 0 of none.
double median(std::vector<double> values);

}  // namespace infer::bench
