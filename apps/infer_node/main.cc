// infer-node: the one binary and its subcommands.
#include <csignal>

#include "apps/infer_node/commands.h"

int main(int argc, char** argv) {
  // A reader that went away is an error of a write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("infer-node runs open-weight language models on the machine you have");
  app.require_subcommand(1);
  app.set_version_flag("--version", "infer-node 0.1.0");
  int exit_code = 0;
  infer::apps::add_serve(app, exit_code);
  infer::apps::add_run(app, exit_code);
  infer::apps::add_inspect(app, exit_code);
  infer::apps::add_tokenize(app, exit_code);
  infer::apps::add_score(app, exit_code);
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
