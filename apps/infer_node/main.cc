// infer-node: the one binary and its subcommands.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "apps/infer_node/commands.h"

namespace {

using infer::apps::short_flag;
using infer::apps::short_flags;

/// The exit code of a command line that is not understood; CLI11 has one of its own for each way to be wrong.
constexpr int wrong_usage = 2;

/// The arguments without the program's name, last first, as CLI11 takes them.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> out(argv + 1, argv + argc);
  for (std::string& argument : out) {
    if (argument == "--") break;
    const auto* flag = std::ranges::find(short_flags, argument, &short_flag::given);
    if (flag != short_flags.end()) argument = flag->means;
  }
  std::ranges::reverse(out);
  return out;
}

/// Files that are opened never get the numbers of standard streams that were closed: what is meant for those would go
/// into them. Reading from and writing to a held one fails as before.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// `code`, or 1 and a sentence where standard output did not take what was said.
int checked_output(int code) {
  errno = 0;
  const bool written = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written) return code;
  const int why = errno;
  std::cerr << "infer-node: standard output cannot be written" << (why != 0 ? std::string(": ") + strerror(why) : "")
            << "\n";
  return code != 0 ? code : 1;
}

int run_program(int argc, char** argv) {
  CLI::App app("run open-weight language models on the machine you have", "infer-node");
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "infer-node 0.1.0");
  app.option_defaults()->always_capture_default();
  int exit_code = 0;
  infer::apps::add_serve(app, exit_code);
  infer::apps::add_run(app, exit_code);
  infer::apps::add_inspect(app, exit_code);
  infer::apps::add_tokenize(app, exit_code);
  infer::apps::add_score(app, exit_code);
  infer::apps::add_bench(app, exit_code);
  infer::apps::add_pull(app, exit_code);
  infer::apps::add_list(app, exit_code);
  infer::apps::add_doctor(app, exit_code);
  infer::apps::add_completion(app, exit_code);
  infer::apps::add_man(app, exit_code);
  // CLI11 shows the default of a list that is empty as "[]".
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_default_str() == "[]") option->default_str("");
    }
  }
  try {
    app.parse(arguments(argc, argv));
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : wrong_usage;
  }
  if (app.get_subcommands().empty()) {
    std::cerr << app.help();
    return wrong_usage;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  return checked_output(run_program(argc, argv));
}
