// Readings of /proc, /sys and the process's own limits.
#include "engine/threads/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "engine/threads/compute_pool.h"

namespace infer::threads {
namespace {

using std::filesystem::path;

/// What the kernels of each level ask for, by /proc/cpuinfo's names.
constexpr std::array wanted{"ssse3",    "sse4_1",      "sse4_2",   "avx",      "avx2",
                            "fma",      "f16c",        "avx512f",  "avx512bw", "avx512vl",
                            "avx512dq", "avx512_vnni", "avx_vnni", "amx_tile", "amx_int8"};

/// The first line of `file` that begins with `label`, without it, the colon and spaces.
std::string field(const path& file, std::string_view label) {
  std::ifstream from(file);
  for (std::string line; std::getline(from, line);) {
    if (!line.starts_with(label)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t text = line.find_first_not_of(" \t", colon + 1);
    return text == std::string::npos ? std::string() : line.substr(text);
  }
  return {};
}

std::string whole(const path& file) {
  std::ifstream from(file);
  std::string text;
  std::getline(from, text);
  return text;
}

std::vector<cpu_feature> features_of(const std::string& flags) {
  std::vector<std::string> have;
  std::istringstream words(flags);
  for (std::string word; words >> word;) have.push_back(word);
  std::vector<cpu_feature> out;
  for (const char* name : wanted) out.push_back({name, std::ranges::find(have, name) != have.end()});
  return out;
}

std::uint64_t kib_field(const path& file, std::string_view label) {
  std::uint64_t kib = 0;
  std::istringstream(field(file, label)) >> kib;
  return kib * 1024;
}

std::optional<std::uint64_t> number_in(const path& file) {
  std::uint64_t value = 0;
  std::ifstream from(file);
  if (from >> value) return value;
  return std::nullopt;
}

template <class Value>
void lower(std::optional<Value>& to, std::optional<Value> value) {
  if (value && (!to || *value < *to)) to = value;
}

/// The folders of the control groups that this process is in, the innermost first: each may set a limit.
std::vector<path> groups(const path& root, const std::string& hierarchy, const path& mount) {
  std::vector<path> out;
  std::ifstream from(root / "proc/self/cgroup");
  for (std::string line; std::getline(from, line);) {
    if (!line.starts_with(hierarchy)) continue;
    path inside = path(line.substr(line.rfind(':') + 1)).relative_path();
    for (; !inside.empty(); inside = inside.parent_path()) out.push_back(mount / inside);
  }
  out.push_back(mount);
  return out;
}

std::optional<double> quota_of(const path& folder) {
  double quota = -1, period = 0;
  if (std::ifstream v2(folder / "cpu.max"); v2 >> quota >> period) {
  } else {
    std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
    std::ifstream(folder / "cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

machine_cores cores_of(const path& root) {
  machine_cores out;
  out.online = static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t set;
  out.affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&set)) : out.online;
  const path mount = root / "sys/fs/cgroup";
  for (const path& folder : groups(root, "0::", mount)) lower(out.quota, quota_of(folder));
  for (const path& folder : groups(root, "cpu", mount / "cpu")) lower(out.quota, quota_of(folder));
  out.usable = usable_cores();
  return out;
}

/// A limit of version 1 that is none is a number near 2⁶³.
void read_group(const path& folder, const char* limit, const char* used, machine_memory& out) {
  constexpr std::uint64_t none = std::uint64_t{1} << 60;
  const auto bytes = number_in(folder / limit);
  if (!bytes || *bytes >= none || (out.group_limit && *bytes >= *out.group_limit)) return;
  out.group_limit = bytes;
  out.group_used = number_in(folder / used);
}

std::optional<std::uint64_t> limit_of(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

machine_memory memory_of(const path& root) {
  machine_memory out;
  out.total = kib_field(root / "proc/meminfo", "MemTotal:");
  out.available = kib_field(root / "proc/meminfo", "MemAvailable:");
  const path mount = root / "sys/fs/cgroup";
  for (const path& folder : groups(root, "0::", mount)) read_group(folder, "memory.max", "memory.current", out);
  for (const path& folder : groups(root, "memory", mount / "memory"))
    read_group(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", out);
  out.address_limit = limit_of(RLIMIT_AS);
  out.locked_limit = limit_of(RLIMIT_MEMLOCK);
  out.overcommit = static_cast<std::uint32_t>(number_in(root / "proc/sys/vm/overcommit_memory").value_or(0));
  const std::string pages = whole(root / "sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = pages.find('['), close = pages.find(']');
  if (open != std::string::npos && close > open) out.huge_pages = pages.substr(open + 1, close - open - 1);
  return out;
}

}  // namespace

machine_report read_machine(const path& root) {
  machine_report out;
  const path info = root / "proc/cpuinfo";
  out.cpu = field(info, "model name");
  out.features = features_of(field(info, "flags"));
  out.cores = cores_of(root);
  out.memory = memory_of(root);
  out.open_files = limit_of(RLIMIT_NOFILE).value_or(0);
  return out;
}

}  // namespace infer::threads
