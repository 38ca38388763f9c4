// peer: our engine and llama.cpp's on the same models, in alternating turns of the same rounds. Only ratios of one
// round mean anything on a machine that others share.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/end_to_end/first_byte.h"
#include "bench/end_to_end/llama_library.h"
#include "bench/support/csv.h"
#include "bench/support/machine.h"
#include "engine/decode/cpu_executor.h"
#include "engine/decode/kernel_choice.h"
#include "engine/decode/speed_run.h"
#include "engine/threads/roofs.h"

namespace infer::bench {
namespace {

struct peer_options {
  std::string libraries, ours, theirs, csv;
  std::vector<std::string> models;
  std::vector<std::uint32_t> depths{16};
  std::uint32_t rounds = 5, threads = usable_cores(), prompt = 512, generate = 48;
};

constexpr double quiet_share = 0.05;   // of the machine's time that other work may take in a round
constexpr double least_of_best = 0.6;  // of the best round's raw read
constexpr std::size_t roof_bytes = std::size_t{512} << 20;

enum side : std::uint8_t { ours, theirs };
constexpr const char* side_names[] = {"ours", "theirs"};

/// What one round measured.
struct round_record {
  double raw = 0;                                         // bytes/s
  double foreign = 0;                                     // share of the machine
  std::map<std::string, std::array<double, 2>> measured;  // by name: tokens/s, or seconds to the first token
};

template <class T>
T take(result<T> r) {
  if (!r) throw std::runtime_error(r.error().message());
  return std::move(r).value();
}

class our_side {
 public:
  our_side(const std::string& model, std::uint32_t context, std::uint32_t threads)
      : run_(
            take(decode::speed_run::open(model, {}, context,
                                         std::make_unique<decode::cpu_executor>(
                                             kernels::best_ops(), std::make_shared<threads::compute_lane>(threads))))) {
  }

  double prefill(std::uint32_t tokens) { return tokens / take(run_.prefill(0, tokens)); }
  double decode(std::uint32_t depth, std::uint32_t tokens) { return tokens / take(run_.decode(depth, tokens)); }
  double matrix_bytes() const { return static_cast<double>(run_.matrix_bytes()); }

 private:
  decode::speed_run run_;
};

class their_side {
 public:
  their_side(const peer_options& o, const std::string& model, std::uint32_t context)
      : llama_(o.libraries, model, context, o.threads), ids_(decode::bench_ids(context, llama_.vocabulary(), 0)) {}

  double prefill(std::uint32_t tokens) {
    llama_.clear();
    return timed(tokens, [&] { llama_.feed_blindly(std::span(ids_).first(tokens)); });
  }
  double decode(std::uint32_t depth, std::uint32_t tokens) {
    llama_.clear();
    llama_.feed_blindly(std::span(ids_).first(depth));
    return timed(tokens, [&] {
      for (std::uint32_t token = 0; token < tokens; ++token)
        llama_.feed_blindly(std::span(ids_).subspan(depth + token, 1));
    });
  }
  void rest() { llama_.rest(); }
  std::string description() const { return llama_.description(); }

 private:
  template <class Work>
  static double timed(std::uint32_t tokens, Work work) {
    const double start = cpu_times::now().wall;
    work();
    return tokens / (cpu_times::now().wall - start);
  }

  llama_library llama_;
  std::vector<token_id> ids_;
};

std::string decode_name(std::uint32_t depth) {
  return "decode@" + std::to_string(depth);
}

template <class Side>
void take_turn(const peer_options& o, side which, Side& on, round_record& round) {
  round.measured["prefill" + std::to_string(o.prompt)][which] = on.prefill(o.prompt);
  for (const std::uint32_t depth : o.depths) round.measured[decode_name(depth)][which] = on.decode(depth, o.generate);
}

void first_tokens(const peer_options& o, const std::string& model, bool ours_first, round_record& round) {
  const std::vector<std::string> commands[] = {
      {o.ours, "run", "-m", model, "-n", "1", "X"},
      {o.theirs, o.libraries, model, "X", std::to_string(o.threads)},
  };
  for (const side which : ours_first ? std::array{ours, theirs} : std::array{theirs, ours})
    round.measured["first token"][which] = seconds_to_first_byte(commands[which]);
}

round_record measure_round(const peer_options& o, const std::string& model, bool ours_first, read_roof& roof,
                           our_side& us, their_side& them) {
  round_record round;
  const cpu_times before = cpu_times::now();
  round.raw = roof.measure(0.2);
  if (ours_first) take_turn(o, ours, us, round);
  take_turn(o, theirs, them, round);
  them.rest();
  if (!ours_first) take_turn(o, ours, us, round);
  if (!o.ours.empty()) first_tokens(o, model, ours_first, round);
  round.foreign = foreign_share(before, cpu_times::now());
  return round;
}

std::vector<round_record> quiet_rounds(const std::vector<round_record>& rounds) {
  double best = 0;
  for (const round_record& round : rounds) best = std::max(best, round.raw);
  std::vector<round_record> out;
  for (const round_record& round : rounds) {
    if (round.raw >= least_of_best * best && round.foreign <= quiet_share) out.push_back(round);
  }
  return out;
}

struct spread {
  double median = 0, low = 0, high = 0;
};

template <class Value>
spread spread_of(const std::vector<round_record>& rounds, Value value) {
  std::vector<double> values;
  for (const round_record& round : rounds) values.push_back(value(round));
  const auto [low, high] = std::ranges::minmax(values);
  return {median(values), low, high};
}

void print_summary(const std::vector<round_record>& rounds, double matrix_bytes) {
  const spread raw = spread_of(rounds, [](const round_record& r) { return r.raw * 1e-9; });
  std::printf("  raw read %.1f GB/s (%.1f - %.1f)\n", raw.median, raw.low, raw.high);
  for (const auto& [name, unused] : rounds[0].measured) {
    const auto of = [&](side which) {
      return spread_of(rounds, [&](const round_record& r) { return r.measured.at(name)[which]; });
    };
    const spread us = of(ours), them = of(theirs);
    const spread ratio = spread_of(
        rounds, [&](const round_record& r) { return r.measured.at(name)[ours] / r.measured.at(name)[theirs]; });
    std::printf("  %-14s ours %9.3f (%.3f - %.3f)  theirs %9.3f (%.3f - %.3f)  ratio %.3f (%.3f - %.3f)\n",
                name.c_str(), us.median, us.low, us.high, them.median, them.low, them.high, ratio.median, ratio.low,
                ratio.high);
    if (!name.starts_with("decode")) continue;
    for (const side which : {ours, theirs}) {
      const spread share =
          spread_of(rounds, [&](const round_record& r) { return r.measured.at(name)[which] * matrix_bytes / r.raw; });
      std::printf("  %-14s %s reads %.3f (%.3f - %.3f) of the raw rate\n", "", side_names[which], share.median,
                  share.low, share.high);
    }
  }
}

void record(csv_file& csv, const peer_options& o, const std::string& model, std::uint32_t number,
            const round_record& round) {
  const std::string parameters = "model=" + model + " threads=" + std::to_string(o.threads);
  csv.add("raw read", parameters, number, round.raw * 1e-9, "GB/s");
  csv.add("foreign share", parameters, number, round.foreign, "1");
  for (const auto& [name, values] : round.measured) {
    for (const side which : {ours, theirs})
      csv.add(name, parameters + " side=" + side_names[which], number, values[which],
              name.starts_with("first") ? "s" : "tokens/s");
  }
}

void compare(const peer_options& o, const std::string& model, read_roof& roof, csv_file& csv) {
  const std::string name = std::filesystem::path(model).filename();
  const std::uint32_t deepest = *std::ranges::max_element(o.depths);
  const std::uint32_t context = std::max(o.prompt, deepest + o.generate) + 32;
  our_side us(model, context, o.threads);
  their_side them(o, model, context);
  std::printf("%s: %.1f MB of matrices a token; %s\n", name.c_str(), us.matrix_bytes() * 1e-6,
              them.description().c_str());
  std::vector<round_record> all;
  measure_round(o, model, true, roof, us, them);  // warms up
  while (all.size() < 3 * o.rounds && quiet_rounds(all).size() < o.rounds) {
    all.push_back(measure_round(o, model, all.size() % 2 == 0, roof, us, them));
    record(csv, o, name, static_cast<std::uint32_t>(all.size() - 1), all.back());
  }
  const std::vector<round_record> quiet = quiet_rounds(all);
  std::printf("  %zu of %zu rounds were quiet%s\n", quiet.size(), all.size(),
              quiet.empty() ? "; what follows is of all of them and proves nothing" : "");
  print_summary(quiet.empty() ? all : quiet, us.matrix_bytes());
  std::fflush(stdout);
}

int run(const peer_options& o, const std::string& command) {
  csv_file csv(o.csv, command);
  std::printf("%s, %u threads\n", machine_name().c_str(), o.threads);
  decode::tune_kernels(decode::default_tuning_file());
  read_roof roof(o.threads, roof_bytes);
  for (const std::string& model : o.models) compare(o, model, roof, csv);
  return 0;
}

}  // namespace
}  // namespace infer::bench

int main(int argc, char** argv) {
  infer::bench::peer_options o;
  CLI::App app("our engine and llama.cpp's on the same models, in alternating turns", "peer");
  app.add_option("--libraries", o.libraries, "folder of llama.cpp's shared libraries")->required();
  app.add_option("--ours", o.ours, "infer-node, to measure the time to the first token as well");
  app.add_option("--theirs", o.theirs, "peer_first_token, for the same");
  app.add_option("--csv", o.csv, "file for every round's values");
  app.add_option("--rounds", o.rounds, "quiet rounds that are wanted; three times as many are tried");
  app.add_option("--threads", o.threads, "threads of both sides and of the raw read");
  app.add_option("--prompt", o.prompt, "tokens of the prefill");
  app.add_option("--generate", o.generate, "tokens of each decode");
  app.add_option("--depth", o.depths, "positions before a decode; may be given several times")->delimiter(',');
  app.add_option("MODEL", o.models, "model files")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    return infer::bench::run(o, infer::bench::command_of(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "peer: %s\n", e.what());
    return 1;
  }
}
