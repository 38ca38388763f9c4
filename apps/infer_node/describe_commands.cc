// infer-node completion and man: what the command line can do, for shells and for man.
#include <iostream>
#include <memory>
#include <string>

#include "apps/infer_node/commands.h"

namespace infer::apps {

void add_completion(CLI::App& app, int&) {
  auto* command = app.add_subcommand("completion", "a script that completes this command line in a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "whose script")->required()->check(CLI::IsMember(completed_shells()));
  command->callback([shell, &app] { std::cout << completion_script(tree_of(app), *shell); });
}

void add_man(CLI::App& app, int&) {
  auto* command = app.add_subcommand("man", "the manual's page: infer-node man | man -l -");
  command->callback([&app] { std::cout << manual_page(tree_of(app)); });
}

}  // namespace infer::apps
