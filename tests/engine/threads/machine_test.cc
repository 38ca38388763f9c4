// Readings of a machine that a test has made up, and of this one.
#include "engine/threads/machine.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "engine/threads/compute_pool.h"
#include "tests/support/temporary_folder.h"

namespace infer::threads {
namespace {

class Machine : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  machine_report read() const { return read_machine(root_.path()); }

  test_support::temporary_folder root_;
};

TEST_F(Machine, ReadsTheCpuAndWhatItCan) {
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: A CPU @ 3 GHz\nflags\t\t: fpu avx avx2 fma avx512_vnni\n");
  const machine_report m = read();
  EXPECT_EQ(m.cpu, "A CPU @ 3 GHz");
  std::map<std::string_view, bool> features;
  for (const cpu_feature& f : m.features) features[f.name] = f.present;
  EXPECT_TRUE(features.at("avx") && features.at("avx2") && features.at("fma") && features.at("avx512_vnni"));
  EXPECT_FALSE(features.at("avx512f") || features.at("amx_int8"));
}

TEST_F(Machine, ReadsMemoryAndThePolicyOfPages) {
  write("proc/meminfo", "MemTotal:       24689764 kB\nMemFree:  1 kB\nMemAvailable:   21000000 kB\n");
  write("proc/sys/vm/overcommit_memory", "2\n");
  write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  const machine_memory m = read().memory;
  EXPECT_EQ(m.total, 24689764ULL * 1024);
  EXPECT_EQ(m.available, 21000000ULL * 1024);
  EXPECT_EQ(m.overcommit, 2u);
  EXPECT_EQ(m.huge_pages, "madvise");
  EXPECT_FALSE(m.group_limit);
}

TEST_F(Machine, TheTightestControlGroupCounts) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/memory.max", "max\n");
  write("sys/fs/cgroup/outer/memory.max", "1000000\n");
  write("sys/fs/cgroup/outer/memory.current", "400\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "2000000\n");
  write("sys/fs/cgroup/outer/inner/memory.current", "300\n");
  write("sys/fs/cgroup/outer/cpu.max", "250000 100000\n");
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  const machine_report m = read();
  EXPECT_EQ(m.memory.group_limit, 1000000u);
  EXPECT_EQ(m.memory.group_used, 400u);
  EXPECT_EQ(m.cores.quota, 2.5);
}

TEST_F(Machine, TheFirstVersionsFilesAreReadToo) {
  write("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/a\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(read().memory.group_limit) << "a number that means none";
  EXPECT_EQ(read().cores.quota, 1.5);
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "77\n");
  EXPECT_EQ(read().memory.group_limit, 77u);
  EXPECT_FALSE(read().memory.group_used);
}

TEST_F(Machine, WhatIsNotThereIsAbsent) {
  const machine_report m = read();
  EXPECT_EQ(m.cpu, "");
  EXPECT_EQ(m.memory.total, 0u);
  EXPECT_EQ(m.memory.huge_pages, "");
  EXPECT_FALSE(m.cores.quota || m.memory.group_limit);
  for (const cpu_feature& f : m.features) EXPECT_FALSE(f.present);
}

TEST(ThisMachine, HasCoresAndMemory) {
  const machine_report m = read_machine();
  EXPECT_GE(m.cores.online, 1u);
  EXPECT_GE(m.cores.affinity, m.cores.usable);
  EXPECT_EQ(m.cores.usable, usable_cores());
  EXPECT_GT(m.memory.total, m.memory.available);
  EXPECT_GT(m.memory.available, 0u);
  EXPECT_GT(m.open_files, 0u);
}

}  // namespace
}  // namespace infer::threads
