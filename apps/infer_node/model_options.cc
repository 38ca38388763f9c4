// Flags to configuration.
#include "apps/infer_node/model_options.h"

#include <sys/stat.h>

#include <filesystem>
#include <iostream>

#include "actors/loader/model_store.h"
#include "actors/model/footprint.h"

namespace infer::apps {
namespace {

/// A file's name without its ending, a folder's name; the repository's for a folder that was pulled.
std::string id_of(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return path.stem();
  const std::filesystem::path folder = path.has_filename() ? path : path.parent_path();
  return std::filesystem::exists(folder / hub::manifest_name, none) ? folder.parent_path().filename()
                                                                    : folder.filename();
}

}  // namespace

void model_options::add_to(CLI::App& command, bool with_path) {
  if (with_path)
    command
        .add_option("-m,--model", path, "model file (GGUF; the first part of a split model), or a pulled model's name")
        ->required()
        ->type_name(model_type)
        ->transform(pulled_name());
  command
      .add_option("-c,--ctx-size", context, "positions per sequence; 0: what the model was trained with, at most 8192")
      ->check(CLI::Range(0u, actors::most_context));
  command.add_option("-b,--batch-size", batch, "tokens per step")->check(CLI::Range(1, 1 << 16));
  command.add_option("--parallel", slots, "-np: sequences at once")->check(CLI::Range(1, 256));
  command.add_option("--cache-type-k", key_type, "-ctk: type of cached keys, f16, bf16 or f32");
  command.add_option("--cache-type-v", value_type, "-ctv: type of cached values, f16, bf16 or f32");
  command.add_option("-t,--threads", threads, "threads that compute; 0: as many as there are cores")
      ->check(CLI::Range(0, 1024));
  command.add_option("--activations", activations, "quantized (8 bit, fast) or f32 (slow, exact)")
      ->check(CLI::IsMember({"quantized", "f32"}));
}

actors::zoo_model model_options::zoo_model(const std::string& model_path) const {
  actors::zoo_model model;
  const std::string stem = id_of(model_path);
  model.source = {alias.empty() ? stem : alias, model_path, context, slots, key_type, value_type, activations, batch};
  struct stat file{};
  if (stat(model_path.c_str(), &file) == 0) model.created = static_cast<std::uint64_t>(file.st_mtime);
  if (!alias.empty() && alias != stem) model.aliases.push_back(stem);
  return model;
}

std::string model_path(const std::string& name) {
  std::error_code none;
  if (std::filesystem::exists(name, none)) return name;
  const auto found = hub::find_model(hub::models_folder(), name);
  return found ? found->path.string() : name;
}

CLI::Validator pulled_name() {
  return CLI::Validator(
      [](std::string& text) {
        text = model_path(text);
        return std::string();
      },
      "", "");
}

int fail_with(const std::string& sentence) {
  std::cerr << "infer-node: " << sentence << "\n";
  return 1;
}

}  // namespace infer::apps
