// operations: every kernel of every table of this CPU by type and shape, as a share of the roof that binds it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bench/support/csv.h"
#include "bench/support/machine.h"
#include "engine/kernels/ops.h"
#include "engine/quant/blocks.h"
#include "engine/threads/compute_pool.h"
#include "engine/threads/roofs.h"
#include "tests/support/random_blocks.h"

namespace infer::bench {
namespace {

using kernels::op_table;

struct bench_options {
  std::string csv, filter;
  std::uint32_t threads = usable_cores(), runs = 5;
  std::size_t cold_bytes = std::size_t{256} << 20;
};

/// What bounds a kernel: reading memory, 8-bit operations, f32 operations, or nothing that is measured here.
enum class roof_kind : std::uint8_t { none, read, dot, fma };

/// The roofs, measured again beside every run: on a shared machine only rates of one moment compare.
class roof_set {
 public:
  roof_set(std::uint32_t threads, std::size_t bytes) : threads_(threads), read_(threads, bytes / threads) {
    const auto fastest = [&](std::string_view unit) {
      peak_loop best{};
      double rate = 0;
      for (const peak_loop& loop : peak_loops()) {
        if (loop.unit != unit) continue;
        if (const double measured = measure_peak(loop, threads, 0.05); measured > rate) {
          rate = measured;
          best = loop;
        }
      }
      return best;
    };
    dot_ = fastest("GOP/s");
    fma_ = fastest("GFLOP/s");
  }

  /// Per second; 0 for a roof that this CPU has no way to measure.
  double measure(roof_kind kind) {
    if (kind == roof_kind::read) return read_.measure(0.02);
    const peak_loop& loop = kind == roof_kind::dot ? dot_ : fma_;
    return kind == roof_kind::none || loop.run == nullptr ? 0 : measure_peak(loop, threads_, 0.02);
  }

 private:
  std::uint32_t threads_;
  read_roof read_;
  peak_loop dot_{}, fma_{};
};

constexpr tensor_type types[] = {tensor_type::q4_0, tensor_type::q4_1, tensor_type::q5_0,
                                 tensor_type::q8_0, tensor_type::q4_k, tensor_type::q6_k,
                                 tensor_type::f16,  tensor_type::bf16, tensor_type::f32};

struct matrix_shape {
  std::uint32_t columns, rows;
};
/// Of well-known models: SmolLM2-135M, 0.5B and 1.5B shapes, both directions of the feed-forward.
constexpr matrix_shape shapes[] = {{576, 1536}, {896, 4864}, {1536, 8960}, {8960, 1536}};
constexpr std::uint32_t token_counts[] = {1, 4, 512};

struct matrix {
  std::vector<std::byte> bytes;
  kernels::matrix_view view;
};

matrix make_matrix(tensor_type type, matrix_shape shape, quant::pack_kind pack) {
  const tensor_type_info& info = info_of(type);
  const std::size_t row_bytes = std::size_t{shape.columns} / info.block_elements * info.block_bytes;
  const std::vector<std::byte> file =
      test_support::random_blocks(type, shape.rows * (shape.columns / info.block_elements), 1);
  matrix out;
  if (pack == quant::pack_kind::rows) {
    out.bytes = file;
    out.view = {type, shape.rows, shape.columns, out.bytes.data(), row_bytes};
    return out;
  }
  out.bytes = quant::pack_matrix(type, file, shape.rows, shape.columns);
  out.view = {type, shape.rows, shape.columns, out.bytes.data(), quant::panel_bytes(type, shape.columns)};
  return out;
}

/// Activations in all forms.
struct activations {
  activations(const op_table& ops, std::uint32_t tokens, std::uint32_t width, quant::canonical_form form)
      : x(test_support::random_floats(std::size_t{tokens} * width, 2)) {
    if (form == quant::canonical_form::floating) return;
    const bool g32 = form == quant::canonical_form::g32;
    q.groups = width / (g32 ? 32 : 256);
    const std::size_t groups = std::size_t{tokens} * q.groups;
    codes.resize(x.size());
    scales.resize(groups);
    sums_scaled.resize(groups);
    negative_sums.resize(groups);
    sums.resize(groups * 16);
    sums32.resize(groups * 8);
    q = {codes.data(), scales.data(), sums_scaled.data(), negative_sums.data(), sums.data(), sums32.data(), q.groups};
    (g32 ? ops.quantize_g32 : ops.quantize_g256)(x.data(), tokens, width, q);
  }

  std::vector<float> x, scales, sums_scaled;
  std::vector<std::int8_t> codes;
  std::vector<std::int32_t> negative_sums;
  std::vector<std::int16_t> sums, sums32;
  kernels::quantized_rows q;
};

class bench {
 public:
  bench(const bench_options& o, const std::string& command)
      : o_(o), csv_(o.csv, command), pool_(o.threads), roofs_(o.threads, o.cold_bytes) {
    std::printf("%s, %u threads: read %.1f GB/s, dot %.0f GOP/s, fma %.0f GFLOP/s\n", machine_name().c_str(), o.threads,
                roofs_.measure(roof_kind::read) * 1e-9, roofs_.measure(roof_kind::dot) * 1e-9,
                roofs_.measure(roof_kind::fma) * 1e-9);
  }

  void run() {
    report("fork-join of the pool", "", 1, "joins", roof_kind::none,
           [&] { pool_.run(o_.threads, [](std::uint32_t) {}); });
    for (const op_table* ops : kernels::all_ops()) {
      for (const tensor_type type : types) {
        for (const matrix_shape shape : shapes) linear(*ops, type, shape);
      }
      attention(*ops, 1, 4096);
      attention(*ops, 16, 496);
      pointwise(*ops);
    }
  }

 private:
  /// Medians of `runs` times of at least 30 ms of `work`, which does `amount` of `unit`.
  template <class Work>
  void report(const std::string& name, const std::string& parameters, double amount, const char* unit, roof_kind roof,
              const Work& work) {
    if ((name + " " + parameters).find(o_.filter) == std::string::npos) return;
    work();
    std::vector<double> rates, shares;
    for (std::uint32_t run = 0; run < o_.runs; ++run) {
      const double limit = roofs_.measure(roof);
      rates.push_back(rate_of(amount, work));
      csv_.add(name, parameters + " threads=" + std::to_string(o_.threads), run, rates.back(),
               std::string(unit) + "/s");
      if (limit == 0) continue;
      shares.push_back(rates.back() / limit);
      csv_.add(name + " share", parameters + " threads=" + std::to_string(o_.threads), run, shares.back(), "1");
    }
    std::ranges::sort(rates);
    std::printf("%-11s %-44s %9.3f G%s/s (%.3f - %.3f)", name.c_str(), parameters.c_str(), median(rates) * 1e-9, unit,
                rates.front() * 1e-9, rates.back() * 1e-9);
    if (!shares.empty()) std::printf("  %.2f of the roof", median(shares));
    std::printf("\n");
    std::fflush(stdout);
  }

  template <class Work>
  static double rate_of(double amount, const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    double seconds = 0, done = 0;
    while (seconds < 0.03) {
      work();
      done += amount;
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    return done / seconds;
  }

  void linear(const op_table& ops, tensor_type type, matrix_shape shape) {
    if (shape.columns % info_of(type).block_elements != 0) return;
    const std::string what = std::string(ops.name) + " " + std::string(info_of(type).name) + " " +
                             std::to_string(shape.columns) + "x" + std::to_string(shape.rows);
    if (("linear " + what).find(o_.filter) == std::string::npos && o_.filter.find("tokens") == std::string::npos)
      return;
    const matrix original = make_matrix(type, shape, ops.pack);
    // So many copies that none is in a cache when its turn comes again.
    std::vector<std::vector<std::byte>> copies(o_.cold_bytes / original.bytes.size() + 1, original.bytes);
    const quant::canonical_form form = quant::form_of(type);
    for (const std::uint32_t tokens : token_counts) {
      // The normative bodies are there to be read; prompts would take them minutes.
      if (tokens > 8 && ops.pack == quant::pack_kind::rows) continue;
      const activations in(ops, tokens, shape.columns, form);
      std::vector<float> y(std::size_t{tokens} * shape.rows);
      kernels::linear_args a;
      a.w = original.view;
      a.tokens = tokens;
      a.y = y.data();
      if (form == quant::canonical_form::floating)
        a.x = in.x.data();
      else
        a.q = &in.q;
      std::size_t turn = 0;
      const auto once = [&] {
        a.w.bytes = copies[turn++ % copies.size()].data();
        pool_.run((shape.rows + kernels::row_block - 1) / kernels::row_block, [&](std::uint32_t block) {
          const std::uint32_t begin = block * kernels::row_block;
          ops.linear(a, {begin, std::min(shape.rows, begin + kernels::row_block)});
        });
      };
      const std::string parameters = what + " tokens=" + std::to_string(tokens);
      const double operations = 2.0 * tokens * shape.rows * shape.columns;
      if (tokens < 8)
        report("linear", parameters, static_cast<double>(original.bytes.size()), "B", roof_kind::read, once);
      else
        report("linear", parameters, operations, form == quant::canonical_form::floating ? "FLOP" : "OP",
               form == quant::canonical_form::floating ? roof_kind::fma : roof_kind::dot, once);
    }
  }

  /// `tokens` queries of the 1.5B shape behind `depth` positions; every KV head is one task.
  void attention(const op_table& ops, std::uint32_t tokens, std::uint32_t depth) {
    constexpr std::uint32_t heads = 12, kv_heads = 2, head_dim = 128;
    const plan::kv_layout layout{1, kv_heads, head_dim, plan::kv_type::f16, plan::kv_type::f16};
    const std::uint32_t pages = (depth + tokens + plan::page_positions - 1) / plan::page_positions;
    std::vector<std::byte> memory(pages * layout.page_bytes(), std::byte{0x2C});
    std::vector<std::byte*> table;
    for (std::uint32_t page = 0; page < pages; ++page) table.push_back(memory.data() + page * layout.page_bytes());
    const std::vector<float> q = test_support::random_floats(std::size_t{tokens} * heads * head_dim, 3);
    std::vector<float> out(q.size());
    const auto once = [&] {
      pool_.run(kv_heads, [&](std::uint32_t head) {
        const std::uint32_t group = heads / kv_heads;
        ops.attention({q.data(),
                       out.data(),
                       tokens,
                       depth,
                       heads,
                       head * group,
                       (head + 1) * group,
                       0.088f,
                       0,
                       0,
                       {table, layout, 0}});
      });
    };
    const std::string parameters =
        std::string(ops.name) + " f16 tokens=" + std::to_string(tokens) + " depth=" + std::to_string(depth);
    if (tokens == 1)
      report("attention", parameters, static_cast<double>(layout.page_bytes()) * pages, "B", roof_kind::read, once);
    else
      report("attention", parameters, 4.0 * heads * head_dim * tokens * depth, "FLOP", roof_kind::fma, once);
  }

  /// One thread over 64 rows of the 1.5B shape's width; bytes read and written.
  void pointwise(const op_table& ops) {
    constexpr std::uint32_t tokens = 64, width = 1536, head_dim = 128, half = head_dim / 2;
    const std::string parameters = std::string(ops.name) + " 64x1536, one thread";
    const double bytes = 8.0 * tokens * width;
    activations in(ops, tokens, width, quant::canonical_form::g32),
        in256(ops, tokens, width, quant::canonical_form::g256);
    std::vector<float> y(in.x.size()), w(width, 1.0f), sine(tokens * half, 0.6f), cosine(tokens * half, 0.8f);
    report("rms_norm", parameters, bytes, "B", roof_kind::none,
           [&] { ops.rms_norm(in.x.data(), w.data(), 1e-6f, tokens, width, y.data()); });
    report("silu_gate", parameters, 1.5 * bytes, "B", roof_kind::none,
           [&] { ops.silu_gate(in.x.data(), in.x.data(), in.x.size(), y.data()); });
    report("gelu_gate", parameters, 1.5 * bytes, "B", roof_kind::none,
           [&] { ops.gelu_gate(in.x.data(), in.x.data(), in.x.size(), y.data()); });
    report("gelu_erf_gate", parameters, 1.5 * bytes, "B", roof_kind::none,
           [&] { ops.gelu_erf_gate(in.x.data(), in.x.data(), in.x.size(), y.data()); });
    report("add", parameters, 1.5 * bytes, "B", roof_kind::none,
           [&] { ops.add(in.x.data(), in.x.data(), in.x.size(), y.data()); });
    report("rope", parameters, bytes, "B", roof_kind::none,
           [&] { ops.rope({y.data(), tokens, width / head_dim, head_dim, half, sine.data(), cosine.data()}); });
    report("quantize32", parameters, bytes * 5 / 8, "B", roof_kind::none,
           [&] { ops.quantize_g32(in.x.data(), tokens, width, in.q); });
    report("quantize256", parameters, bytes * 5 / 8, "B", roof_kind::none,
           [&] { ops.quantize_g256(in.x.data(), tokens, width, in256.q); });
  }

  bench_options o_;
  csv_file csv_;
  threads::compute_pool pool_;
  roof_set roofs_;
};

}  // namespace
}  // namespace infer::bench

int main(int argc, char** argv) {
  infer::bench::bench_options o;
  CLI::App app("every kernel by type and shape against the machine's roofs", "operations");
  app.add_option("--csv", o.csv, "file for every run's values");
  app.add_option("--filter", o.filter, "only what has this in its line, such as 'linear avx2 Q4_0'");
  app.add_option("--threads", o.threads, "threads that compute")->check(CLI::Range(1, 1024));
  app.add_option("--runs", o.runs, "times each is measured")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  infer::bench::bench(o, infer::bench::command_of(argc, argv)).run();
  return 0;
}
