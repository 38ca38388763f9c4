// infer-node pull and list: models from a hub into the folder of models, and what is in it.
#include "actors/loader/pull.h"

#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "apps/infer_node/commands.h"
#include "apps/infer_node/model_options.h"
#include "apps/infer_node/progress_line.h"

namespace infer::apps {
namespace {

using std::chrono::steady_clock;

struct pull_flags {
  std::string reference, endpoint, token, models;
  std::uint32_t stall_seconds = 30, tries = 6;
  bool json = false;
};

/// A bar with rate and time left on a terminal; elsewhere a line for each tenth.
class progress_bar {
 public:
  void show(const hub::pull_progress& p) {
    const auto now = steady_clock::now();
    // A file that was not right is begun again.
    if (!begun_ || p.bytes < start_bytes_) {
      begun_ = true;
      start_ = shown_ = now;
      start_bytes_ = p.bytes;
    } else if (now - shown_ < std::chrono::milliseconds(200) && p.bytes < p.of_bytes) {
      return;
    }
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(p.bytes - start_bytes_) / seconds : 0;
    const progress state{p.bytes, p.of_bytes, rate, p.file};
    if (terminal_) {
      // The last column stays free: a letter there would begin a new line on some terminals.
      std::cerr << "\r\33[K" + progress_line(state, columns_of(STDERR_FILENO) - 1) << std::flush;
    } else if (std::exchange(tenth_, state.percent() / 10) != state.percent() / 10) {
      std::cerr << progress_text(state) + "\n" << std::flush;
    }
    open_ = terminal_;
  }
  /// Ends the bar's line.
  void end() {
    if (open_) std::cerr << "\n";
    open_ = false;
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool begun_ = false, open_ = false;
  steady_clock::time_point start_, shown_;
  std::uint64_t start_bytes_ = 0, tenth_ = ~std::uint64_t{0};
};

boost::json::object json_of(const hub::stored_model& m) {
  return {{"name", m.name}, {"format", m.format}, {"bytes", m.bytes}, {"path", m.path.string()}};
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int run_pull(const pull_flags& flags) {
  const auto of = hub::parse_reference(flags.reference);
  if (!of) return fail_with(of.error().message());
  hub::pull_options options;
  options.hub.endpoint = flags.endpoint.empty() ? hub::default_endpoint() : flags.endpoint;
  while (options.hub.endpoint.ends_with('/')) options.hub.endpoint.pop_back();
  options.hub.token = flags.token.empty() ? environment("HF_TOKEN") : flags.token;
  options.models = hub::models_folder(flags.models);
  options.stall_seconds = flags.stall_seconds;
  options.tries = flags.tries;
  options.say = [](const std::string& sentence) { std::cerr << sentence << "\n"; };
  progress_bar bar;
  if (!flags.json) options.progress = [&bar](const hub::pull_progress& p) { bar.show(p); };
  const auto model = hub::pull(of.value(), options);
  bar.end();
  if (!model) return fail_with(model.error().message());
  if (flags.json)
    std::cout << boost::json::serialize(json_of(model.value())) << "\n";
  else
    std::cout << model.value().name << ": " << format_bytes(model.value().bytes) << " in "
              << model.value().path.string() << "\n";
  return 0;
}

void run_list(const std::string& folder, bool json, bool names) {
  const auto models = hub::list_models(hub::models_folder(folder));
  if (names) {
    for (const auto& m : models) std::cout << m.name << "\n";
    return;
  }
  if (json) {
    boost::json::array all;
    for (const auto& m : models) all.push_back(json_of(m));
    std::cout << boost::json::serialize(all) << "\n";
    return;
  }
  std::size_t width = 4;
  for (const auto& m : models) width = std::max(width, m.name.size());
  std::printf("%-*s  %-11s  %9s  %s\n", static_cast<int>(width), "name", "format", "size", "path");
  for (const auto& m : models)
    std::printf("%-*s  %-11s  %9s  %s\n", static_cast<int>(width), m.name.c_str(), m.format.c_str(),
                format_bytes(m.bytes).c_str(), m.path.c_str());
}

}  // namespace

void add_pull(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("pull", "get a model from a hub; goes on where an earlier one ended");
  auto o = std::make_shared<pull_flags>();
  command
      ->add_option(
          "REF", o->reference,
          "OWNER/NAME, OWNER/NAME:QUANT, OWNER/NAME/FILE.gguf, each with @REVISION after it, or its page's address")
      ->required();
  command->add_option("--endpoint", o->endpoint, "the hub's address; else HF_ENDPOINT, else the public hub");
  command->add_option("--token", o->token, "token for gated models; else HF_TOKEN");
  command
      ->add_option("--models", o->models,
                   "folder of models; else INFER_MODELS, else infer-node/models in the data folder")
      ->type_name(folder_type);
  command->add_option("--stall-timeout", o->stall_seconds, "seconds without bytes after which a connection is given up")
      ->check(CLI::Range(1, 3600));
  command->add_option("--tries", o->tries, "tries in a row that bring nothing before it is given up")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--json", o->json, "one JSON object at the end, no progress");
  command->callback([o, &exit_code] { exit_code = run_pull(*o); });
}

void add_list(CLI::App& app, int&) {
  struct options {
    std::string models;
    bool json = false, names = false;
  };
  auto* command = app.add_subcommand("list", "models that were pulled");
  auto o = std::make_shared<options>();
  command
      ->add_option("--models", o->models,
                   "folder of models; else INFER_MODELS, else infer-node/models in the data folder")
      ->type_name(folder_type);
  auto* json = command->add_flag("--json", o->json, "a JSON array");
  command->add_flag("--names", o->names, "names alone, one a line")->excludes(json);
  command->callback([o] { run_list(o->models, o->json, o->names); });
}

}  // namespace infer::apps
