// The rules: what is well, what is worth a warning, what fails.
#include "apps/infer_node/doctor/findings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/core/bytes.h"

namespace infer::apps {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20, gib = std::uint64_t{1} << 30;
constexpr std::uint64_t least_budget = 256 * mib, least_free_disk = 4 * gib, least_files = 1024;

std::string count(std::uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// 12.3 GB/s: with decimal prefixes, as rates are.
std::string rate_text(const roof& r) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f G%s/s", r.rate * 1e-9, r.unit.c_str());
  return text;
}

class rules {
 public:
  explicit rules(const readings& r) : r_(r) {}

  std::vector<finding> run() {
    cpu();
    cores();
    kernels();
    roofs();
    memory();
    limits();
    gpu();
    models();
    return std::move(out_);
  }

 private:
  void add(std::string_view section, std::string name, health state, std::string text, std::string advice = {}) {
    out_.push_back({section, std::move(name), state, std::move(text), std::move(advice)});
  }

  void cpu() {
    add("cpu", "model", health::ok, r_.machine.cpu.empty() ? "unknown" : r_.machine.cpu);
    std::string have, lack;
    bool avx2 = false;
    for (const threads::cpu_feature& f : r_.machine.features) {
      (f.present ? have : lack) += " " + std::string(f.name);
      avx2 = avx2 || (f.present && f.name == "avx2");
    }
    std::string text = have.empty() ? "none that kernels ask for" : have.substr(1);
    if (!lack.empty()) text += "; not:" + lack;
    add("cpu", "features", avx2 ? health::ok : health::warn, text,
        avx2
            ? ""
            : "without AVX2 the plain kernels compute, many times slower; in a virtual machine pass the host's CPU on");
  }

  void cores() {
    const threads::machine_cores& c = r_.machine.cores;
    std::string text = count(c.usable, "thread") + " of " + std::to_string(c.online) + " online";
    if (c.affinity < c.online) text += ", " + std::to_string(c.affinity) + " by affinity";
    if (c.quota) text += ", " + short_number(*c.quota) + " by the control group";
    const bool broken_quota = c.quota && *c.quota != std::floor(*c.quota);
    add("cpu", "cores", broken_quota ? health::warn : health::ok, text,
        broken_quota ? "the control group pays for a part of a core: all threads wait for the one that is stopped; set "
                       "a whole number of CPUs, or -t " +
                           std::to_string(std::max(1u, static_cast<std::uint32_t>(*c.quota)))
                     : "");
  }

  void kernels() {
    for (const decode::kernel_check& k : r_.kernels) {
      char text[96];
      std::snprintf(text, sizeof text, "%u results equal to the bit in %.2f s%s", k.checks, k.seconds,
                    k.chosen ? "; this table is used" : "");
      if (k.failures.empty()) {
        add("kernels", k.table, health::ok, text);
        continue;
      }
      add("kernels", k.table, health::fail,
          std::to_string(k.failures.size()) + " of " + std::to_string(k.checks) +
              " results are wrong, the first: " + k.failures.front(),
          "do not trust answers of this machine: build again, and where that does not help check the CPU and its "
          "memory");
    }
  }

  void roofs() {
    double best_read = 0;
    for (const roof& r : r_.roofs) {
      if (r.name == "read") best_read = std::max(best_read, r.rate);
      add("roofs", r.name, health::ok, rate_text(r) + " with " + count(r.threads, "thread"));
    }
    if (best_read > 0) {
      char text[96];
      std::snprintf(text, sizeof text, "at most %.1f tokens/s for each GB of weights that a token reads",
                    best_read * 1e-9);
      add("roofs", "decoding", health::ok, text);
    }
  }

  void memory() {
    const threads::machine_memory& m = r_.machine.memory;
    std::string text = format_bytes(m.total) + ", " + format_bytes(m.available) + " available";
    if (m.group_limit) text += "; control group: " + format_bytes(*m.group_limit);
    if (m.group_used) text += ", " + format_bytes(*m.group_used) + " used";
    add("memory", "ram", health::ok, text);
    const std::uint64_t left = m.group_limit && m.group_used
                                   ? std::min(m.available, *m.group_limit - std::min(*m.group_limit, *m.group_used))
                                   : m.available;
    const std::string budget = format_bytes(r_.budget_bytes) + ", 80 % of what there is";
    if (r_.budget_bytes < least_budget)
      add("memory", "budget", health::fail, budget, "too little for any model; give the machine or the container more");
    else if (left < r_.budget_bytes)
      add("memory", "budget", health::warn, budget + "; " + format_bytes(left) + " are free now",
          "other programs hold memory: end them, or serve with --memory " + std::to_string(left / mib));
    else
      add("memory", "budget", health::ok, budget);
    if (m.overcommit == 2)
      add("memory", "overcommit", health::warn, "the system grants no memory beyond what it has",
          "mapping a model may be refused: sysctl vm.overcommit_memory=0");
    if (!m.huge_pages.empty())
      add("memory", "huge pages", m.huge_pages == "never" ? health::warn : health::ok, m.huge_pages,
          m.huge_pages == "never" ? "reading weights is slower without: echo madvise > "
                                    "/sys/kernel/mm/transparent_hugepage/enabled"
                                  : "");
  }

  void limits() {
    const threads::machine_report& m = r_.machine;
    if (m.memory.address_limit)
      add("limits", "address space", health::warn, format_bytes(*m.memory.address_limit) + " (ulimit -v)",
          "models are mapped and their pages get addresses ahead of use: ulimit -v unlimited");
    add("limits", "open files", m.open_files < least_files ? health::warn : health::ok,
        std::to_string(m.open_files) + " (ulimit -n)",
        m.open_files < least_files ? "each connection takes one: ulimit -n 4096" : "");
  }

  void gpu() { add("gpu", "gpu", health::ok, "none (this build has CPU kernels only)"); }

  void models() {
    const models_state& m = r_.models;
    std::string text = m.folder;
    std::string advice;
    health state = health::ok;
    if (m.exists && !m.is_folder) {
      state = health::fail;
      text += " is no folder";
      advice = "move it away, or name another folder in INFER_MODELS";
    } else if (!m.writable) {
      state = health::fail;
      text += m.exists ? " cannot be written" : " cannot be made";
      advice = "change its owner or mode, or name another folder in INFER_MODELS";
    } else if (!m.exists) {
      text += ", made by the first pull";
    } else {
      text += ", " + count(m.models, "model") + " of " + format_bytes(m.model_bytes);
    }
    add("models", "folder", state, text, advice);
    const bool full = m.free_bytes < least_free_disk;
    add("models", "disk", full ? health::warn : health::ok, format_bytes(m.free_bytes) + " free",
        full ? "few models fit; INFER_MODELS names a folder elsewhere" : "");
    add("models", "hub", health::ok, m.hub + (m.token ? ", with a token" : ", without a token (HF_TOKEN)"));
  }

  const readings& r_;
  std::vector<finding> out_;
};

}  // namespace

std::vector<finding> findings_of(const readings& r) {
  return rules(r).run();
}

health worst_of(const std::vector<finding>& all) {
  health worst = health::ok;
  for (const finding& f : all) worst = std::max(worst, f.state);
  return worst;
}

}  // namespace infer::apps
