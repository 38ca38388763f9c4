// infer-node run: a chat, or one answer, from a model in this process or from a running server.
#include <unistd.h>

#include <boost/json/object.hpp>
#include <charconv>
#include <iostream>
#include <limits>
#include <memory>
#include <utility>

#include "apps/infer_node/answer_source.h"
#include "apps/infer_node/chat.h"
#include "apps/infer_node/chat/shown_text.h"
#include "apps/infer_node/commands.h"
#include "apps/infer_node/log_setup.h"
#include "apps/infer_node/sampling_options.h"
#include "apps/infer_node/terminal.h"
#include "apps/infer_node/whole_text.h"
#include "engine/formats/chat_source.h"
#include "engine/formats/model_file.h"
#include "engine/templates/chat_template.h"
#include "protocol/http/json_text.h"

namespace infer::apps {
namespace {

struct run_options {
  model_options model;
  std::string prompt, system, server, api_key, think = "auto";
  sampling_options sampling;
  chat_settings settings;
  bool raw = false, verbose = false, json = false, no_stats = false, no_history = false;
};

/// Why the model cannot talk; empty where its template can be used.
result<std::string> template_fault(const std::string& path) {
  INFER_TRY(const auto file, formats::open_model(path));
  INFER_TRY(const std::string text, formats::chat_template_of(*file));
  if (text.empty()) return std::string("the model has no chat template");
  const auto compiled = templates::chat_template::compile(text);
  return compiled ? std::string() : "the model's chat template cannot be read: " + compiled.error().message();
}

/// A model without a template that can be read is for texts, not for talks. Says why it cannot be asked as it is
/// wanted, if so.
std::string settle_template(run_options& o, bool is_chat) {
  if (!o.server.empty() || o.raw) return {};
  const auto fault = template_fault(o.model.path);
  if (!fault) return fault.error().message();
  if (fault.value().empty()) return {};
  const std::string why = o.model.path + ": " + fault.value();
  if (is_chat) return why + "; give a text that it should continue: infer-node run -m MODEL TEXT";
  std::cerr << "infer-node: " << why << ": the text is continued as it is\n";
  o.raw = true;
  return {};
}

result<std::unique_ptr<answer_source>> source_of(const run_options& o) {
  if (!o.server.empty()) return remote_source(o.server, o.api_key, o.model.path);
  return local_source(o.model);
}

void print_json(const answer_report& report, const std::string& text, const std::string& reasoning) {
  boost::json::object out{{"model", report.model}, {"text", text}};
  if (!reasoning.empty()) out["reasoning"] = reasoning;
  out["finish_reason"] = report.finish_reason;
  add_stats(out, report.stats);
  std::cout << http::write_json(out) << std::endl;
}

/// One answer on standard output: as it comes, or as one JSON document.
int answer_once(const run_options& o, answer_source& source) {
  std::vector<chat_turn> turns;
  if (!o.system.empty() && !o.raw) turns.push_back({"system", o.system, {}});
  turns.push_back({"user", o.prompt, {}});
  // Thinking is set apart only for people and for programs that asked for members; a pipe gets the text as it is.
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  answer_view view(may_colour());
  std::string text, reasoning;
  bool is_begun = false;
  std::atomic<bool> unheard = false;  // standard output takes no more
  const auto show = [&](const templates::answer_piece& piece) {
    is_begun = true;
    if (o.json)
      (piece.reasoning ? reasoning : text) += piece.text;
    else
      unheard = !(std::cout << (is_terminal ? view.show(piece) : piece.text) << std::flush);
  };
  const answer_report report = source.answer({turns, o.settings, o.raw}, is_terminal || o.json, show, &unheard);
  if (!o.json && (is_begun || report.failure.empty())) std::cout << (is_terminal ? view.finish() : "\n") << std::flush;
  if (!report.failure.empty()) return fail_with(report.failure);
  if (o.json) print_json(report, text, reasoning);
  if (o.verbose) std::cerr << stats_line(report.stats) << "\n";
  return 0;
}

int run(run_options& o) {
  set_up_log(o.verbose ? "info" : "error");
  if (const std::string why = o.sampling.finish(); !why.empty()) return fail_with(why);
  o.settings.sampling = o.sampling.values;
  o.settings.stats = !o.no_stats;
  o.settings.history = !o.no_history;
  read_think(o.think, o.settings.think);
  if (o.server.empty() && o.model.path.empty())
    return fail_with("say which model: -m FILE, or --server URL for a running server");
  const bool is_chat = o.prompt.empty() && !o.raw && !o.json && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  if (!is_chat && o.prompt.empty()) {
    if (isatty(STDIN_FILENO) != 0) std::cerr << "Type the prompt, end it with Ctrl-D.\n";
    auto prompt = read_input();
    if (!prompt) return fail_with(prompt.error().message());
    o.prompt = std::move(prompt.value());
    if (o.prompt.ends_with('\n')) o.prompt.pop_back();
    if (o.prompt.empty()) return fail_with("the prompt is empty");
  }
  if (const std::string why = utf8_fault("the prompt", o.prompt); !why.empty()) return fail_with(why);
  if (const std::string why = utf8_fault("the system message", o.system); !why.empty()) return fail_with(why);
  if (const std::string why = settle_template(o, is_chat); !why.empty()) return fail_with(why);
  const auto source = source_of(o);
  if (!source) return fail_with(source.error().message());
  return is_chat ? chat(*source.value(), o.settings, o.system) : answer_once(o, *source.value());
}

/// The parser takes the nearest number that fits.
CLI::Validator is_int64() {
  return {[](std::string& text) {
            std::int64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [at, bad] = std::from_chars(text.data(), end, value);
            return bad == std::errc{} && at == end ? std::string() : text + " is no whole number of 64 bits";
          },
          {}};
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("run", "chat on the terminal, or one answer to a prompt");
  auto o = std::make_shared<run_options>();
  o->model.add_to(*command, false);
  command->add_option("-m,--model", o->model.path, "model file or a pulled model's name; with --server: the model's id")
      ->type_name(model_type);
  command->add_option("PROMPT", o->prompt, "the prompt; else a chat, or standard input where that is no terminal");
  command->add_option("--server", o->server, "ask a running server, e.g. http://127.0.0.1:8080");
  command->add_option("--api-key", o->api_key, "key for the server")->envname("INFER_API_KEY");
  command->add_option("--system-prompt", o->system, "-sys: system message");
  command->add_option("-n,--predict", o->settings.max_tokens, "at most so many tokens; -1: as many as fit")
      ->check(CLI::Range(std::int64_t{-1}, std::int64_t{std::numeric_limits<std::int32_t>::max()}));
  msg::sampling& sampling = o->sampling.values;
  sampling.temperature = 0.8f;
  sampling.top_k = 40;
  sampling.top_p = 0.95f;
  sampling.min_p = 0.05f;
  o->sampling.add_to(*command);
  command->add_option("-s,--seed", o->settings.seed, "seed; below 0: a fresh one")->check(is_int64());
  command->add_option("--think", o->think, "whether the model is asked to think first; auto: as its template has it")
      ->check(CLI::IsMember({"on", "off", "auto"}));
  command->add_flag("--raw", o->raw, "continue the text as it is, without the chat template");
  command->add_flag("--json", o->json, "one answer as one JSON object: text, reasoning, counts and times");
  command->add_flag("--no-stats", o->no_stats, "in a chat: no line below each answer");
  command->add_flag("--no-history", o->no_history, "in a chat: do not keep prompts for the next one");
  command->add_flag("-v,--verbose", o->verbose, "counts and times at the end, and the log");
  command->callback([o, &exit_code] {
    if (o->server.empty()) o->model.path = model_path(o->model.path);
    exit_code = run(*o);
  });
}

}  // namespace infer::apps
