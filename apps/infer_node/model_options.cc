// Flags to configuration.
#include "apps/infer_node/model_options.h"

#include <sys/stat.h>

#include <filesystem>
#include <iostream>

#include "actors/loader/hub_reference.h"
#include "actors/loader/model_store.h"
#include "actors/model/footprint.h"

namespace infer::apps {
namespace {

/// What a model is called, first by its id. One that was pulled: as it was pulled, without the quantization, and by its
/// file; another: by its file's name without the ending, or its folder's.
std::vector<std::string> names_of(const std::filesystem::path& path) {
  std::error_code none;
  const bool is_folder = std::filesystem::is_directory(path, none);
  const std::string own = is_folder ? (path.has_filename() ? path : path.parent_path()).filename() : path.stem();
  const auto pulled = hub::stored_at(path);
  if (!pulled) return {own};
  std::vector<std::string> names{pulled->name};
  if (const std::size_t end = pulled->name.find_first_of(":@"); end != std::string::npos)
    names.push_back(pulled->name.substr(0, end));
  if (!is_folder) names.push_back(own);
  return names;
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
  model.aliases = names_of(model_path);
  if (!alias.empty()) {
    std::erase(model.aliases, alias);
    model.aliases.insert(model.aliases.begin(), alias);
  }
  model.source = {model.aliases.front(), model_path, context, slots, key_type, value_type, activations, batch};
  model.aliases.erase(model.aliases.begin());
  struct stat file{};
  if (stat(model_path.c_str(), &file) == 0) model.created = static_cast<std::uint64_t>(file.st_mtime);
  return model;
}

std::string model_path(const std::string& name) {
  std::error_code failed;
  if (name.empty() || std::filesystem::exists(name, failed) || failed) return name;
  const auto found = hub::find_model(hub::models_folder(), name);
  if (found) return found->path.string();
  const std::string what = name + ": no such file or folder, and no model was pulled by that name; ";
  const auto of = hub::parse_reference(name);
  const bool may_be_fetched = of && !of.value().name.ends_with(".gguf");  // that is a path to a file
  throw CLI::RuntimeError(fail_with(
      what + (may_be_fetched ? "to fetch it: infer-node pull " + name : "infer-node list shows those that were")));
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
