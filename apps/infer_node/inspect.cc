// infer-node inspect FILE: what is in a model file.
#include <iostream>
#include <memory>

#include "apps/infer_node/commands.h"
#include "apps/infer_node/model_options.h"
#include "engine/formats/describe.h"
#include "engine/formats/model_file.h"

namespace infer::apps {

void add_inspect(CLI::App& app, int& exit_code) {
  struct options {
    std::string path;
    bool all = false;
  };
  auto* command = app.add_subcommand("inspect", "look into a model file");
  auto o = std::make_shared<options>();
  command->add_option("FILE", o->path, "model file or a pulled model's name")->required()->transform(pulled_name());
  command->add_flag("--tensors", o->all, "list every tensor");
  command->callback([o, &exit_code] {
    const auto file = formats::open_model(o->path);
    if (!file) {
      exit_code = fail_with(file.error().message());
      return;
    }
    std::cout << formats::describe(*file.value(), o->all);
  });
}

}  // namespace infer::apps
