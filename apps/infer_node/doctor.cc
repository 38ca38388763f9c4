// infer-node doctor: what this machine has and whether all of it works.
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>

#include "actors/loader/pull.h"
#include "actors/tree/node.h"
#include "apps/infer_node/commands.h"
#include "apps/infer_node/doctor/findings.h"
#include "apps/infer_node/model_options.h"
#include "apps/infer_node/terminal.h"
#include "engine/threads/compute_pool.h"
#include "engine/threads/roofs.h"
#include "protocol/http/json_text.h"

namespace infer::apps {
namespace {

constexpr double read_seconds = 0.25, peak_seconds = 0.05;
/// Of each thread: beyond what caches near a core hold, and not much of a small machine.
constexpr std::size_t read_bytes = std::size_t{128} << 20;

std::vector<roof> measure_roofs(std::uint32_t cores, std::uint64_t free_bytes) {
  std::vector<roof> out;
  for (const std::uint32_t team : {1u, cores}) {
    const std::size_t each = std::min<std::uint64_t>(read_bytes, free_bytes / 4 / team);
    try {
      threads::read_roof read(team, each);
      out.push_back({"read", team, read.measure(read_seconds), "B"});
    } catch (const std::bad_alloc&) {
      // No memory to read is a finding of memory; the roof is left out.
    }
    for (const threads::peak_loop& loop : threads::peak_loops())
      out.push_back({std::string(loop.name), team, threads::measure_peak(loop, team, peak_seconds),
                     loop.unit == "GOP/s" ? "OP" : "FLOP"});
    if (cores == 1) break;
  }
  return out;
}

models_state look_at_models(const std::string& given) {
  models_state out;
  const std::filesystem::path folder = hub::models_folder(given);
  std::error_code none;
  out.folder = folder.string();
  out.exists = std::filesystem::exists(folder, none);
  out.is_folder = std::filesystem::is_directory(folder, none);
  std::filesystem::path there = std::filesystem::absolute(folder, none);
  while (!std::filesystem::exists(there, none) && there.has_relative_path()) there = there.parent_path();
  out.writable = std::filesystem::is_directory(there, none) && access(there.c_str(), W_OK | X_OK) == 0;
  struct statvfs disk{};
  if (statvfs(there.c_str(), &disk) == 0) out.free_bytes = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (out.is_folder) {
    for (const hub::stored_model& model : hub::list_models(folder)) {
      ++out.models;
      out.model_bytes += model.bytes;
    }
  }
  out.hub = hub::default_endpoint();
  const char* const token = std::getenv("HF_TOKEN");
  out.token = token != nullptr && *token != '\0';
  return out;
}

int run(const std::string& models, bool json) {
  readings r;
  r.machine = threads::read_machine();
  r.budget_bytes = default_memory_bytes();
  r.models = look_at_models(models);
  r.kernels = decode::check_kernels();
  r.roofs = measure_roofs(threads::usable_cores(), r.machine.memory.available);
  const auto all = findings_of(r);
  if (json)
    std::cout << http::write_json(findings_json(r, all)) << "\n";
  else
    std::cout << findings_text(all, may_colour());
  return worst_of(all) == health::fail ? 1 : 0;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  struct options {
    std::string models;
    bool json = false;
  };
  auto* command =
      app.add_subcommand("doctor", "what this machine has and whether all of it works; 1 where it does not");
  auto o = std::make_shared<options>();
  command
      ->add_option("--models", o->models,
                   "folder of models; else INFER_MODELS, else infer-node/models in the data folder")
      ->type_name(folder_type);
  command->add_flag("--json", o->json, "one JSON object");
  command->callback([o, &exit_code] { exit_code = run(o->models, o->json); });
}

}  // namespace infer::apps
