// The machine as this process sees it: CPU, cores, memory, and the limits it lives under.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace infer::threads {

struct cpu_feature {
  std::string_view name;  // as /proc/cpuinfo has it: "avx512_vnni"
  bool present = false;
};

struct machine_cores {
  std::uint32_t online = 0;     // of the machine
  std::uint32_t affinity = 0;   // this process may be put on
  std::optional<double> quota;  // that its control groups pay for; absent: no limit
  std::uint32_t usable = 0;     // threads that are worth having: usable_cores()
};

struct machine_memory {
  std::uint64_t total = 0, available = 0;      // bytes of the machine
  std::optional<std::uint64_t> group_limit;    // of the control groups; absent: none
  std::optional<std::uint64_t> group_used;     // where there is a limit
  std::optional<std::uint64_t> address_limit;  // of address space (ulimit -v)
  std::optional<std::uint64_t> locked_limit;   // that may be locked (ulimit -l)
  std::uint32_t overcommit = 0;                // vm.overcommit_memory: 0 by guess, 1 always, 2 never
  std::string huge_pages;                      // transparent ones: "always", "madvise", "never"; empty: unknown
};

struct machine_report {
  std::string cpu;                    // the model's name; empty: unknown
  std::vector<cpu_feature> features;  // those that some kernel asks for
  machine_cores cores;
  machine_memory memory;
  std::uint64_t open_files = 0;  // that may be open at once (ulimit -n)
};

/// Reads /proc and /sys below `root`, which tests replace; affinity and ulimits of this process.
/// Errors:  none; what cannot be read is absent or 0.
/// Threads: any.
machine_report read_machine(const std::filesystem::path& root = "/");

}  // namespace infer::threads
