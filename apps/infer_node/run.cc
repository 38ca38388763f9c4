// infer-node run: one answer on the terminal, from a model in this process or from a running server.
#include <unistd.h>

#include <atomic>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>

#include "actors/gateway/http_client.h"
#include "actors/tree/client.h"
#include "apps/infer_node/commands.h"
#include "apps/infer_node/log_setup.h"
#include "apps/infer_node/model_options.h"
#include "apps/infer_node/sampling_options.h"
#include "engine/decode/kernel_choice.h"
#include "engine/formats/chat_source.h"
#include "engine/formats/model_file.h"
#include "protocol/http/sampler_fields.h"

namespace infer::apps {
namespace {

struct run_options {
  model_options model;
  std::string prompt, system, server, api_key, server_model;
  std::int64_t predict = -1;
  sampling_options sampling;
  std::int64_t seed = -1;
  bool raw = false, verbose = false;
};

boost::json::object chat_body(const run_options& o) {
  boost::json::array messages;
  if (!o.system.empty()) messages.push_back({{"role", "system"}, {"content", o.system}});
  messages.push_back({{"role", "user"}, {"content", o.prompt}});
  boost::json::object body = http::sampling_body(o.sampling.values);
  body["messages"] = std::move(messages);
  body["stream"] = true;
  if (!o.server_model.empty()) body["model"] = o.server_model;
  if (o.predict >= 0) body["max_tokens"] = o.predict;
  if (o.seed >= 0) body["seed"] = o.seed;
  return body;
}

/// The message of an error as the API has it; what is none of that form is shown as it is.
std::string message_of(const boost::json::value& e) {
  boost::json::error_code code;
  const auto* message = e.find_pointer("/message", code);
  return message != nullptr && message->is_string() ? std::string(message->get_string()) : boost::json::serialize(e);
}

std::string refusal_of(const std::string& body) {
  boost::json::error_code code;
  const auto answer = boost::json::parse(body, code);
  const auto* e = code ? nullptr : answer.find_pointer("/error", code);
  return e != nullptr ? message_of(*e) : body;
}

/// Cuts a stream of server-sent events into lines and shows the text of each.
class event_printer {
 public:
  void push(std::string_view data) {
    rest_ += data;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
      line(std::string_view(rest_).substr(0, end));
      rest_.erase(0, end + 1);
    }
  }
  const std::string& failure() const { return failure_; }
  bool finished() const { return finished_; }

 private:
  void line(std::string_view text) {
    if (!text.starts_with("data: ")) return;
    text.remove_prefix(6);
    if (text == "[DONE]") {
      finished_ = true;
      return;
    }
    boost::json::error_code code;
    const auto event = boost::json::parse(boost::json::string_view(text.data(), text.size()), code);
    if (code || !event.is_object()) return;
    if (const auto* e = event.as_object().if_contains("error")) failure_ = message_of(*e);
    const auto* choices = event.as_object().if_contains("choices");
    if (choices == nullptr || !choices->is_array() || choices->get_array().empty()) return;
    const auto* content = event.find_pointer("/choices/0/delta/content", code);
    if (content != nullptr && content->is_string()) std::cout << std::string_view(content->get_string()) << std::flush;
  }

  std::string rest_, failure_;
  bool finished_ = false;
};

int run_remote(const run_options& o) {
  event_printer printer;
  const auto answer = actors::http_post(o.server, "/v1/chat/completions", boost::json::serialize(chat_body(o)),
                                        o.api_key, [&](std::string_view data) { printer.push(data); });
  if (!answer) return fail_with(answer.error().message());
  if (answer.value().status / 100 != 2)
    return fail_with("the server answered " + std::to_string(answer.value().status) + ": " +
                     refusal_of(answer.value().body));
  std::cout << std::endl;
  if (!printer.failure().empty()) return fail_with(printer.failure());
  if (!printer.finished()) return fail_with("the answer broke off");
  return 0;
}

msg::generate request_of(const run_options& o, bool chat) {
  msg::generate request;
  request.prompt.kind = chat ? msg::prompt_kind::chat : msg::prompt_kind::text;
  if (chat) {
    if (!o.system.empty()) request.prompt.messages.push_back({"system", o.system, {}});
    request.prompt.messages.push_back({"user", o.prompt, {}});
  } else {
    request.prompt.text = o.prompt;
  }
  request.sampling = o.sampling.values;
  if (o.predict >= 0) request.max_tokens = static_cast<std::uint32_t>(o.predict);
  if (o.seed >= 0) {
    request.sampling.seed = static_cast<std::uint64_t>(o.seed);
    request.seed_given = true;
  }
  return request;
}

int run_local(const run_options& o) {
  bool chat = false;
  {
    const auto file = formats::open_model(o.model.path);
    if (!file) return fail_with(file.error().message());
    const auto text = formats::chat_template_of(*file.value());
    if (!text) return fail_with(text.error().message());
    chat = !o.raw && !text.value().empty();
  }
  caf::actor_system_config config;
  configure(config);
  caf::actor_system system(config);
  decode::tune_kernels(decode::default_tuning_file());
  node_config nodes;
  nodes.models.push_back(o.model.zoo_model(o.model.path));
  nodes.compute_threads = o.model.threads;
  node n = spawn_node(system, std::move(nodes));
  client_callbacks callbacks;
  callbacks.on_text = [](const msg::text_made& event) { std::cout << event.text << std::flush; };
  const client_result result = run_request(system, n, request_of(o, chat), callbacks);
  std::cout << std::endl;
  stop_node(system, n);
  if (!result.ok) return fail_with(result.failure.message);
  if (o.verbose) {
    const answer& a = result.answer;
    std::cerr << a.prompt_tokens << " prompt tokens in " << a.prefill_ms << " ms, " << a.completion_tokens
              << " tokens in " << a.decode_ms << " ms, seed " << a.seed << "\n";
  }
  return 0;
}

int run(run_options& o) {
  set_up_log(o.verbose ? "info" : "error");
  if (const std::string why = o.sampling.finish(); !why.empty()) return fail_with(why);
  if (o.server.empty() && o.model.path.empty())
    return fail_with("say which model: -m FILE, or --server URL for a running server");
  if (o.prompt.empty()) {
    if (isatty(STDIN_FILENO) != 0) std::cerr << "Type the prompt, end it with Ctrl-D.\n";
    o.prompt.assign(std::istreambuf_iterator<char>(std::cin), {});
    if (o.prompt.ends_with('\n')) o.prompt.pop_back();
  }
  if (o.prompt.empty()) return fail_with("the prompt is empty");
  return o.server.empty() ? run_local(o) : run_remote(o);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("run", "one answer on the terminal");
  auto o = std::make_shared<run_options>();
  o->model.add_to(*command, false);
  command->add_option("-m,--model", o->model.path,
                      "model file or a pulled model's name; with --server: the model's id");
  command->add_option("PROMPT", o->prompt, "the prompt; else standard input");
  command->add_option("--server", o->server, "ask a running server, e.g. http://127.0.0.1:8080");
  command->add_option("--api-key", o->api_key, "key for the server");
  command->add_option("--system-prompt", o->system, "-sys: system message");
  command->add_option("-n,--predict", o->predict, "at most so many tokens; -1: as many as fit")
      ->check(CLI::Range(std::int64_t{-1}, std::int64_t{std::numeric_limits<std::int32_t>::max()}));
  msg::sampling& sampling = o->sampling.values;
  sampling.temperature = 0.8f;
  sampling.top_k = 40;
  sampling.top_p = 0.95f;
  sampling.min_p = 0.05f;
  o->sampling.add_to(*command);
  command->add_option("-s,--seed", o->seed, "seed; below 0: a fresh one");
  command->add_flag("--raw", o->raw, "continue the text as it is, without the chat template");
  command->add_flag("-v,--verbose", o->verbose, "counts and times at the end, and the log");
  command->callback([o, &exit_code] {
    if (o->server.empty())
      o->model.path = model_path(o->model.path);
    else
      o->server_model = o->model.path;
    exit_code = run(*o);
  });
}

}  // namespace infer::apps
