// infer-node inspect FILE: what is in a model file, and how it would run.
#include <iostream>
#include <memory>

#include "apps/infer_node/commands.h"
#include "apps/infer_node/model_options.h"
#include "apps/infer_node/model_report.h"
#include "protocol/http/json_text.h"

namespace infer::apps {
namespace {

struct inspect_options {
  std::string path;
  std::uint32_t context = 0;
  std::string key_type = "f16", value_type = "f16";
  bool all = false, json = false;
};

int run(const inspect_options& o) {
  msg::model_source source;
  source.path = o.path;
  source.context = o.context;
  source.key_type = o.key_type;
  source.value_type = o.value_type;
  const auto report = report_of(source);
  if (!report) return fail_with(report.error().message());
  if (o.json)
    std::cout << http::write_json(report_json(report.value(), o.all)) << "\n";
  else
    std::cout << report_text(report.value(), o.all);
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("inspect", "what is in a model file, and how it would run");
  auto o = std::make_shared<inspect_options>();
  command->add_option("FILE", o->path, "model file, folder, or a pulled model's name")
      ->required()
      ->type_name(model_type)
      ->transform(pulled_name());
  command->add_option("-c,--ctx-size", o->context, "positions of a sequence; 0: what serve would take")
      ->check(CLI::Range(0u, actors::most_context));
  command->add_option("--cache-type-k", o->key_type, "-ctk: type of cached keys, f16, bf16 or f32");
  command->add_option("--cache-type-v", o->value_type, "-ctv: type of cached values, f16, bf16 or f32");
  command->add_flag("--tensors", o->all, "list every tensor");
  command->add_flag("--json", o->json, "one JSON object");
  command->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace infer::apps
