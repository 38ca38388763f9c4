// infer-node bench: tokens per second of a model file, prefill and decode.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/model/footprint.h"
#include "apps/infer_node/commands.h"
#include "apps/infer_node/model_options.h"
#include "engine/decode/cpu_executor.h"
#include "engine/decode/kernel_choice.h"
#include "engine/decode/speed_run.h"
#include "engine/threads/compute_lane.h"

namespace infer::apps {
namespace {

struct bench_options {
  std::string path;
  std::uint32_t prompt = 512, generate = 128, repetitions = 5, depth = 0, batch = 512;
  std::uint32_t threads = threads::usable_cores();
  std::string key_type = "f16", value_type = "f16", activations = "quantized";
  bool json = false;
};

/// One kind of work and its rates, ascending.
struct measured {
  std::string test;
  std::uint32_t tokens = 0;
  std::vector<double> rates;  // tokens/s

  double median() const {
    const std::size_t half = rates.size() / 2;
    return rates.size() % 2 == 1 ? rates[half] : (rates[half - 1] + rates[half]) / 2;
  }
};

/// Runs `once`, which returns seconds, one time for warming up and `repetitions` times for the record.
template <class Once>
result<measured> measure(std::string test, std::uint32_t tokens, std::uint32_t repetitions, Once once) {
  measured out{std::move(test), tokens, {}};
  INFER_TRYV(once());
  for (std::uint32_t r = 0; r < repetitions; ++r) {
    INFER_TRY(const double seconds, once());
    out.rates.push_back(tokens / seconds);
  }
  std::ranges::sort(out.rates);
  return out;
}

result<std::vector<measured>> measure_all(const bench_options& o, decode::speed_run& run) {
  std::vector<measured> out;
  const std::string at = o.depth > 0 ? " @ d" + std::to_string(o.depth) : "";
  if (o.prompt > 0) {
    INFER_TRY(auto prefill, measure("pp" + std::to_string(o.prompt) + at, o.prompt, o.repetitions,
                                    [&] { return run.prefill(o.depth, o.prompt); }));
    out.push_back(std::move(prefill));
  }
  if (o.generate > 0) {
    INFER_TRY(auto decode, measure("tg" + std::to_string(o.generate) + at, o.generate, o.repetitions,
                                   [&] { return run.decode(o.depth, o.generate); }));
    out.push_back(std::move(decode));
  }
  return out;
}

void print_table(const bench_options& o, const decode::speed_run& run, const std::vector<measured>& all) {
  std::printf("%s: %s of matrices a token\n", o.path.c_str(), format_bytes(run.matrix_bytes()).c_str());
  std::printf("| %-16s | %12s | %25s |\n", "test", "median t/s", "min - max");
  std::printf("|%s|%s:|%s:|\n", std::string(18, '-').c_str(), std::string(13, '-').c_str(),
              std::string(26, '-').c_str());
  for (const measured& m : all)
    std::printf("| %-16s | %12.2f | %11.2f - %11.2f |\n", m.test.c_str(), m.median(), m.rates.front(), m.rates.back());
}

void print_json(const bench_options& o, const decode::speed_run& run, const std::vector<measured>& all) {
  boost::json::array tests;
  for (const measured& m : all) {
    tests.push_back(boost::json::object{{"test", m.test},
                                        {"tokens", m.tokens},
                                        {"depth", o.depth},
                                        {"repetitions", m.rates.size()},
                                        {"median", m.median()},
                                        {"min", m.rates.front()},
                                        {"max", m.rates.back()},
                                        {"unit", "tokens/s"}});
  }
  std::cout << boost::json::serialize(boost::json::object{{"model", o.path},
                                                          {"matrix_bytes", run.matrix_bytes()},
                                                          {"batch", o.batch},
                                                          {"threads", o.threads},
                                                          {"cache_type_k", o.key_type},
                                                          {"cache_type_v", o.value_type},
                                                          {"activations", o.activations},
                                                          {"tests", std::move(tests)}})
            << "\n";
}

int run(const bench_options& o) {
  if (o.prompt == 0 && o.generate == 0) return fail_with("bench has nothing to measure: -p and -n are both 0");
  auto options = actors::options_of({.path = o.path,
                                     .key_type = o.key_type,
                                     .value_type = o.value_type,
                                     .activations = o.activations,
                                     .batch = o.batch});
  if (!options) return fail_with(options.error().message());
  decode::tune_kernels(decode::default_tuning_file());
  auto executor =
      std::make_unique<decode::cpu_executor>(kernels::best_ops(), std::make_shared<threads::compute_lane>(o.threads));
  auto opened =
      decode::speed_run::open(o.path, options.value(), o.depth + std::max(o.prompt, o.generate), std::move(executor));
  if (!opened) return fail_with(opened.error().message());
  const auto all = measure_all(o, opened.value());
  if (!all) return fail_with(all.error().message());
  (o.json ? print_json : print_table)(o, opened.value(), all.value());
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("bench", "tokens per second of a model file, prefill and decode");
  auto o = std::make_shared<bench_options>();
  command
      ->add_option("-m,--model", o->path, "model file or a pulled model's name (GGUF; the first part of a split model)")
      ->required()
      ->type_name(model_type)
      ->transform(pulled_name());
  command->add_option("-p,--n-prompt", o->prompt, "tokens of the prompt that is timed; 0: none")
      ->check(CLI::Range(0, 1 << 20));
  command->add_option("-n,--n-gen", o->generate, "tokens that are generated one by one; 0: none")
      ->check(CLI::Range(0, 1 << 20));
  command->add_option("-r,--repetitions", o->repetitions, "times each is measured")->check(CLI::Range(1, 10000));
  command->add_option("-d,--n-depth", o->depth, "positions that stand before, not timed")
      ->check(CLI::Range(0, 1 << 20));
  command->add_option("-t,--threads", o->threads, "threads that compute")->check(CLI::Range(1, 1024));
  command->add_option("-b,--batch-size", o->batch, "tokens per step")->check(CLI::Range(1, 1 << 16));
  command->add_option("--cache-type-k", o->key_type, "-ctk: type of cached keys");
  command->add_option("--cache-type-v", o->value_type, "-ctv: type of cached values");
  command->add_option("--activations", o->activations, "quantized (8 bit, fast) or f32 (slow, exact)")
      ->check(CLI::IsMember({"quantized", "f32"}));
  command->add_flag("--json", o->json, "one JSON object instead of a table");
  command->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace infer::apps
