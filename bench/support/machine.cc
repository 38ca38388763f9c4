// Readings of /proc.
#include "bench/support/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <thread>

namespace infer::bench {
namespace {

double seconds_of(const rusage& usage) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

std::string machine_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string family, model;
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("cpu family")) family = value;
    if (line.starts_with("model\t")) model = value;
    if (line.starts_with("model name"))
      return value + " (family " + family + " model " + model + "), " + std::to_string(threads::usable_cores()) +
             " cores";
  }
  return "unknown, " + std::to_string(threads::usable_cores()) + " cores";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

cpu_times cpu_times::now() {
  cpu_times out;
  out.wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal = 0;
  stat >> name >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> steal;
  out.all = (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
  rusage self{}, children{};
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  out.own = seconds_of(self) + seconds_of(children);
  return out;
}

double foreign_share(const cpu_times& from, const cpu_times& to) {
  const double available = (to.wall - from.wall) * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  if (available <= 0) return 0;
  return std::clamp(((to.all - from.all) - (to.own - from.own)) / available, 0.0, 1.0);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace infer::bench
