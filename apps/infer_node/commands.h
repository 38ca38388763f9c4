// The subcommands of infer-node: each adds itself to the command line and runs when it was chosen.
#pragma once

#include <CLI/CLI.hpp>

#include "apps/infer_node/command_tree/command_tree.h"

namespace infer::apps {

/// Every function adds one subcommand to `app`. The returned code of the one that was chosen ends up in `exit_code`.
void add_serve(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_tokenize(CLI::App& app, int& exit_code);
void add_score(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_pull(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
/// These two describe what `app` holds when they run.
void add_completion(CLI::App& app, int& exit_code);
void add_man(CLI::App& app, int& exit_code);

}  // namespace infer::apps
