// infer-node serve: the server.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <caf/all.hpp>
#include <chrono>
#include <iostream>
#include <limits>
#include <map>
#include <memory>

#include "actors/gateway/gateway.h"
#include "actors/tree/client.h"
#include "apps/infer_node/commands.h"
#include "apps/infer_node/log_setup.h"
#include "apps/infer_node/model_options.h"
#include "apps/infer_node/sampling_options.h"
#include "engine/decode/kernel_choice.h"

namespace infer::apps {
namespace {

/// What the process holds beside models: its code, libraries, and the buffers of its connections.
constexpr std::uint64_t own_bytes = std::uint64_t{32} << 20;

struct serve_options {
  model_options model;
  sampling_options sampling;
  std::string pooling = "mean";
  bool any_model = false;
  std::vector<std::string> paths;
  std::string host = "127.0.0.1", log_level = "info";
  std::uint16_t port = 8080;
  std::vector<std::string> api_keys, origins;
  std::uint64_t memory_mb = 0;
  std::uint32_t grace_s = 30;
};

/// Blocks the signals that end a server in every thread made from here on, and waits for one of them.
class stop_signals {
 public:
  stop_signals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  void wait() const {
    int signal = 0;
    sigwait(&set_, &signal);
  }
  /// Whether one more has come.
  bool came() const {
    const timespec at_once{};
    return sigtimedwait(&set_, nullptr, &at_once) > 0;
  }

 private:
  sigset_t set_{};
};

/// Ends the wait of `stop_signals` when the root of the tree ends by itself.
caf::behavior watch_root(caf::event_based_actor* self, const caf::actor& root,
                         std::shared_ptr<std::atomic<bool>> root_ended) {
  self->monitor(root);
  self->set_down_handler([self, root_ended](const caf::down_msg&) {
    root_ended->store(true);
    kill(getpid(), SIGTERM);
    self->quit();
  });
  return {[](caf::ok_atom) {}};
}

node_config tree_of(const serve_options& o, const actors::http_server& server) {
  decode::tune_kernels(decode::default_tuning_file());
  node_config config;
  for (const std::string& path : o.paths) config.models.push_back(o.model.zoo_model(path));
  if (o.any_model) config.models.front().aliases.emplace_back(actors::any_name);
  config.memory_bytes = o.memory_mb << 20;
  config.own_bytes = own_bytes;
  config.compute_threads = o.model.threads;
  config.gateway = [link = server.link()](caf::actor_system& system, const requests_actor& requests,
                                          const zoo_actor& zoo) {
    return system.spawn(actors::run_gateway, link, requests, zoo);
  };
  return config;
}

/// Looks now and then at a model that loads: memory that it waits for is not given back by those that were loaded
/// before it, which stay.
class memory_wait {
 public:
  memory_wait(caf::actor_system& system, const node& n, std::string id, const wait_watch& stopped)
      : system_(system), node_(n), id_(std::move(id)), stopped_(stopped) {}

  /// Whether it has waited at two looks, `interval` apart, with what it waits for.
  bool is_hopeless() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    next_ = now + interval;
    for (const msg::model_row& row : list_models(system_, node_, stopped_)) {
      if (row.id != id_) continue;
      const bool waits = row.state == msg::model_state::claiming && !row.detail.empty();
      why_ = waits ? row.detail : "";
      looks_ = waits ? looks_ + 1 : 0;
    }
    return looks_ >= 2;
  }
  const std::string& why() const { return why_; }

 private:
  static constexpr std::chrono::milliseconds interval{500};
  caf::actor_system& system_;
  const node& node_;
  std::string id_, why_;
  const wait_watch& stopped_;
  std::chrono::steady_clock::time_point next_{};
  int looks_ = 0;
};

/// Loads what was named on the command line; the first failure is the server's. Nothing more where it is `stopped`.
std::string load_all(caf::actor_system& system, const node& n, const wait_watch& stopped) {
  for (const msg::model_row& row : list_models(system, n, stopped)) {
    memory_wait memory(system, n, row.id, stopped);
    bool hopeless = false;
    const msg::model_changed changed =
        load_model(system, n, row.id, [&] { return stopped() || (hopeless = memory.is_hopeless()); });
    if (stopped()) return {};
    if (hopeless)
      return row.path + ": " + memory.why() +
             "; allow more with --memory, ask for shorter contexts with -c, or serve fewer";
    if (changed.done) continue;
    const bool names_the_file = changed.message.find(row.path) != std::string::npos;
    return names_the_file ? changed.message : row.path + ": " + changed.message;
  }
  return {};
}

/// What the flags ask for that cannot be: a sentence, empty where all is well.
std::string contradiction(const serve_options& o) {
  if (o.paths.size() > 1 && !o.model.alias.empty()) return "--alias names one model; give it with one -m";
  if (std::ranges::find(o.api_keys, std::string()) != o.api_keys.end()) return "--api-key must not be empty";
  std::map<std::string, std::string> path_of;
  for (const std::string& path : o.paths) {
    const std::string id = o.model.zoo_model(path).source.id;
    const auto [other, is_new] = path_of.emplace(id, path);
    if (!is_new)
      return "two models would have the id '" + id + "': " + other->second + " and " + path +
             "; rename one of the files";
  }
  return {};
}

/// Lets running answers end, until the grace is over or who told the server to stop says it again.
void drain(actors::http_server& server, const stop_signals& signals, std::chrono::seconds grace) {
  constexpr std::chrono::milliseconds step{50};
  const auto end = std::chrono::steady_clock::now() + grace;
  while (std::chrono::steady_clock::now() < end && !server.drain(step) && !signals.came()) {
  }
}

/// Says where the server listens, to whoever reads it; nobody has to.
void announce(const std::string& host, std::uint16_t port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  std::cout << "infer-node listening on http://" << (is_ipv6 ? "[" + host + "]" : host) << ":" << port << std::endl;
  std::cout.clear();
  std::clearerr(stdout);
}

int serve(serve_options& o) {
  set_up_log(o.log_level);
  if (const std::string why = contradiction(o); !why.empty()) return fail_with(why);
  if (const std::string why = o.sampling.finish(); !why.empty()) return fail_with(why);
  // A client or a reader of the log that went away is an error of a write, not the end of the server.
  signal(SIGPIPE, SIG_IGN);
  const stop_signals signals;
  actors::gateway_config gateway;
  gateway.address = o.host;
  gateway.port = o.port;
  gateway.api_keys = o.api_keys;
  gateway.allowed_origins = o.origins;
  gateway.defaults.sampling = o.sampling.values;
  gateway.defaults.pooling = *http::pooling_of(o.pooling);
  actors::http_server server(gateway);
  caf::actor_system_config config;
  configure(config);
  caf::actor_system system(config);
  node n = spawn_node(system, tree_of(o, server));
  const auto root_ended = std::make_shared<std::atomic<bool>>(false);
  // An actor that nobody holds is ended by CAF.
  caf::actor watcher = system.spawn(watch_root, n.root, root_ended);
  bool told = false;  // to stop
  const wait_watch stopped = [&] { return told = told || signals.came(); };
  const auto port = server.start();
  int code = 0;
  if (!port) {
    code = fail_with(port.error().message());
  } else if (const std::string failure = load_all(system, n, stopped); !failure.empty()) {
    code = fail_with(failure);
  } else {
    if (!told) {
      announce(o.host, port.value());
      signals.wait();
    }
    if (root_ended->load()) {
      code = fail_with("the tree of actors ended; see the log");
    } else {
      server.stop_accepting();
      drain(server, signals, std::chrono::seconds(o.grace_s));
    }
  }
  caf::anon_send_exit(std::exchange(watcher, {}), caf::exit_reason::user_shutdown);
  if (!root_ended->load() && !stop_node(system, n)) code = 1;
  server.drain(std::chrono::seconds(1));  // what was cut off is told so
  server.stop();
  n = {};
  return code;
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("serve", "the server: OpenAI's API over HTTP");
  auto o = std::make_shared<serve_options>();
  o->model.add_to(*command, false);
  command
      ->add_option("-m,--model", o->paths,
                   "model file or a pulled model's name; repeat for more, the first is the default")
      ->required()
      ->allow_extra_args(false)
      ->type_name(model_type)
      ->transform(pulled_name());
  command->add_option("--alias", o->model.alias, "the model's id; else the file's name without its ending");
  command->add_flag("--any-model", o->any_model, "the first model answers to names that no model has");
  o->sampling.add_to(*command);
  command->add_option("--pooling", o->pooling, "how embeddings are made of hidden states")
      ->check(CLI::IsMember({"mean", "cls", "last"}));
  command->add_option("--host", o->host, "IP address to listen on; 0.0.0.0: every one of the machine");
  command->add_option("--port", o->port, "port; 0: a free one");
  command->add_option("--api-key", o->api_keys, "key that clients must send; repeat for more")
      ->allow_extra_args(false)
      ->envname("INFER_API_KEY");
  command
      ->add_option("--allow-origin", o->origins, "web origin that may ask from a browser; repeat for more; * for all")
      ->allow_extra_args(false);
  command
      ->add_option("--memory", o->memory_mb,
                   "MiB of memory to use at most, 32 of them for the program itself; 0: 80 % of what there is")
      ->check(CLI::Range(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max() >> 20));
  command->add_option("--log-level", o->log_level, "how much to log")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  command->add_option("--grace", o->grace_s, "seconds that running answers get when the server is told to stop");
  command->callback([o, &exit_code] { exit_code = serve(*o); });
}

}  // namespace infer::apps
