// Measuring and keeping the choice.
#include "engine/kernels/tuning.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace infer::kernels {

tuning current_tuning;

namespace {

constexpr std::uint32_t columns = 1024, rows = 80 * 1024;  // 47 MB of Q4_0
constexpr int rounds = 5;
/// From the likely best on; another must be faster by more than one measurement differs from the next.
constexpr tuning choices[] = {{2304, 2}, {3456, 2}, {1152, 2}, {4608, 2}, {2304, 1}, {3456, 1}, {1152, 1}};
constexpr double margin = 0.97;

/// What names the machine and the code that was measured.
std::string key_of(const op_table& ops) {
  std::ifstream info("/proc/cpuinfo");
  std::string line, model = "unknown";
  while (std::getline(info, line)) {
    if (line.starts_with("model name")) {
      model = line.substr(std::min(line.size(), line.find(':') + 2));
      break;
    }
  }
  return "2\t" + std::string(ops.name) + "\t" + model;
}

/// Lines of: key, tab, prefetch bytes, tab, panels.
std::optional<tuning> find_in(const std::filesystem::path& file, const std::string& key) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    tuning t;
    if (line.starts_with(key + "\t") &&
        std::sscanf(line.c_str() + key.size(), "\t%u\t%u", &t.prefetch_bytes, &t.panels) == 2 &&
        t.prefetch_bytes <= 65536 && (t.panels == 1 || t.panels == 2))
      return t;
  }
  return std::nullopt;
}

}  // namespace

tuning measure_tuning(const op_table& ops) {
  if (ops.pack != quant::pack_kind::r16k4) return current_tuning;
  const std::size_t stride = quant::panel_bytes(tensor_type::q4_0, columns);
  std::vector<std::byte> weights(rows / quant::panel_rows * stride);
  std::memset(weights.data(), 1, weights.size());
  const std::vector<float> x(columns, 1.0f);
  std::vector<float> y(rows), scales(columns / 32), sums_scaled(columns / 32);
  std::vector<std::int8_t> codes(columns);
  std::vector<std::int32_t> negative_sums(columns / 32);
  quantized_rows q{codes.data(), scales.data(), sums_scaled.data(), negative_sums.data(),
                   nullptr,      nullptr,       columns / 32};
  ops.quantize_g32(x.data(), 1, columns, q);
  linear_args a;
  a.w = {tensor_type::q4_0, rows, columns, weights.data(), stride};
  a.q = &q;
  a.tokens = 1;
  a.y = y.data();
  constexpr std::size_t count = std::size(choices);
  std::array<double, count> least;
  least.fill(std::numeric_limits<double>::max());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      current_tuning = choices[i];
      const auto start = std::chrono::steady_clock::now();
      ops.linear(a, {0, rows});
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      least[i] = std::min(least[i], taken.count());
    }
  }
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (least[i] < least[chosen] * margin) chosen = i;
  }
  current_tuning = choices[chosen];
  return current_tuning;
}

void tune(const op_table& ops, const std::filesystem::path& file) {
  const std::string key = key_of(ops);
  if (const auto known = find_in(file, key)) {
    current_tuning = *known;
    return;
  }
  const tuning chosen = measure_tuning(ops);
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  std::ofstream out(file, std::ios::app);
  out << key + "\t" + std::to_string(chosen.prefetch_bytes) + "\t" + std::to_string(chosen.panels) + "\n";
}

}  // namespace infer::kernels
