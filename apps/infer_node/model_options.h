// The flags that say which model and how: the same names as llama-server's, shared by the subcommands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "actors/zoo/zoo_state.h"
#include "engine/plan/executor.h"

namespace infer::apps {

struct model_options {
  std::string path;
  std::string alias;
  std::uint32_t context = 0, slots = 8, batch = 512, threads = 0;
  std::string key_type = "f16", value_type = "f16", activations = "quantized";

  /// -c -b -np -ctk -ctv -t --activations, and -m for one model where `with_path`.
  void add_to(CLI::App& command, bool with_path);
  actors::zoo_model zoo_model(const std::string& model_path) const;
};

/// Type names of options whose values shells complete.
inline constexpr const char *model_type = "MODEL", *folder_type = "DIR";

/// The path of the model that is called `name`: `name` itself where it is a path or empty, else that of a pulled model.
/// Errors: says what there is to do and throws CLI::RuntimeError with the exit code.
std::string model_path(const std::string& name);
/// For options that take a model: replaces its name by its path, as model_path.
CLI::Validator pulled_name();

/// Prints "infer-node: …" to the error stream and returns 1.
int fail_with(const std::string& sentence);

}  // namespace infer::apps
