// The operation table: one signature per operation, several bodies. An executor resolves a table once; tests and
// benches reach every body by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/core/tensor_type.h"
#include "engine/plan/kv_layout.h"
#include "engine/quant/packed.h"

namespace infer::kernels {

/// A matrix [rows, columns] packed as the table that reads it wants; row or panel r starts at bytes + r·stride.
struct matrix_view {
  tensor_type type{};
  std::uint32_t rows = 0, columns = 0;
  const std::byte* bytes = nullptr;
  std::size_t stride = 0;
};

/// Rows [begin, end) of a matrix, cut at multiples of `row_block` or at its last row.
struct row_range {
  std::uint32_t begin = 0, end = 0;
};
inline constexpr std::uint32_t row_block = 32;

/// Activations quantized by design §6.4, token-major: per group of 32 (g32) or 256 (g256) elements codes and a scale;
/// for g32 the negated sum of the codes and `sum_scaled` = scale·Σcodes rounded once; for g256 the sums of runs of 16
/// and 32.
struct quantized_rows {
  std::int8_t* codes = nullptr;           // [tokens, width]
  float* scales = nullptr;                // [tokens, groups]
  float* sums_scaled = nullptr;           // [tokens, groups], g32 only
  std::int32_t* negative_sums = nullptr;  // [tokens, groups], g32 only
  std::int16_t* sums = nullptr;           // [tokens, groups · 16], g256 only
  std::int16_t* sums32 = nullptr;         // [tokens, groups · 8], g256 only
  std::uint32_t groups = 0;               // per token

  /// The same rows from `token` on; what the form lacks stays null.
  quantized_rows from(std::size_t token, std::size_t group_elements) const {
    const std::size_t at = token * groups;
    const auto moved = [](auto* p, std::size_t by) { return p == nullptr ? p : p + by; };
    return {codes + at * group_elements,
            scales + at,
            moved(sums_scaled, at),
            moved(negative_sums, at),
            moved(sums, at * 16),
            moved(sums32, at * 8),
            groups};
  }
};

/// y = W·x, then in this order, one rounding each: + bias, · scale, + residual.
/// Shapes:  x [tokens, columns]; y and residual [tokens, rows]; bias [rows]. y may alias residual.
struct linear_args {
  matrix_view w;
  const float* x = nullptr;           // the float rule
  const quantized_rows* q = nullptr;  // the quantized rule
  std::uint32_t tokens = 0;
  const float* bias = nullptr;
  float scale = 1;
  const float* residual = nullptr;
  float* y = nullptr;
};

/// Sines and cosines of positions. Shapes: positions [tokens]; inverse_frequency [half]; sine and cosine [tokens,
/// half].
struct angle_args {
  const std::int32_t* positions = nullptr;
  std::uint32_t tokens = 0;
  std::span<const float> inverse_frequency;
  float magnitude = 1;
  float* sine = nullptr;
  float* cosine = nullptr;
};

/// Shapes:  x [tokens, heads · head_dim], turned in place in pairs (i, i + half); sine and cosine [tokens, half].
struct rope_args {
  float* x = nullptr;
  std::uint32_t tokens = 0, heads = 0, head_dim = 0, half = 0;
  const float* sine = nullptr;
  const float* cosine = nullptr;
};

/// The pages of one sequence and one layer inside them.
struct kv_view {
  std::span<std::byte* const> pages;  // page p holds positions [32p, 32p + 32)
  plan::kv_layout layout;
  std::uint32_t layer = 0;  // index inside the page
};

/// Shapes:  k and v [tokens, kv_heads · head_dim], of positions first_position, +1, …
struct store_args {
  const float* k = nullptr;
  const float* v = nullptr;
  std::uint32_t tokens = 0, first_position = 0;
  kv_view kv;
};

/// Causal attention of consecutive queries of one sequence, design §6.5.
/// Shapes:  q and out [tokens, heads · head_dim], of which heads [head_begin, head_end) are computed. Query t sees
///          positions ≤ first_position + t, and with a window only the last `window` of them.
struct attention_args {
  const float* q = nullptr;
  float* out = nullptr;
  std::uint32_t tokens = 0, first_position = 0;
  std::uint32_t heads = 0, head_begin = 0, head_end = 0;
  float scale = 1, softcap = 0;
  std::uint32_t window = 0;
  kv_view kv;
};

/// Threads: every function is re-entrant. Memory: none allocates.
struct op_table {
  std::string_view name;
  quant::pack_kind pack = quant::pack_kind::rows;
  /// One row of an embedding matrix to f32. Shapes: out [columns].
  void (*embed_row)(const matrix_view& w, std::uint32_t row, float* out);
  /// y = (x·r)·w with r = 1/√(mean x² + eps). Shapes: x, y [tokens, width]; w [width]. y may alias x.
  void (*rms_norm)(const float* x, const float* w, float eps, std::uint32_t tokens, std::uint32_t width, float* y);
  /// y = ((x − m)·r)·w + b with m = mean x, r = 1/√(mean (x − m)² + eps); b may be null. Shapes: b [width], the others
  /// and aliasing as of rms_norm.
  void (*layer_norm)(const float* x, const float* w, const float* b, float eps, std::uint32_t tokens,
                     std::uint32_t width, float* y);
  void (*quantize_g32)(const float* x, std::uint32_t tokens, std::uint32_t width, const quantized_rows& out);
  void (*quantize_g256)(const float* x, std::uint32_t tokens, std::uint32_t width, const quantized_rows& out);
  /// The rule is chosen by which of x and q is set; q must have the form of the weight's type.
  void (*linear)(const linear_args&, row_range);
  void (*angles)(const angle_args&);
  void (*rope)(const rope_args&);
  void (*store_kv)(const store_args&);
  void (*attention)(const attention_args&);
  /// out = act(gate)·up, element by element. Shapes: [count]. gelu is the tanh form, gelu_erf that with the error
  /// function.
  using gate_body = void (*)(const float* gate, const float* up, std::size_t count, float* out);
  gate_body silu_gate, gelu_gate, gelu_erf_gate;
  /// out = act(x), element by element. Shapes: [count]. out may alias x.
  using activation_body = void (*)(const float* x, std::size_t count, float* out);
  activation_body silu, gelu, gelu_erf;
  /// out = a + b, element by element. Shapes: [count]. out may alias either.
  void (*add)(const float* a, const float* b, std::size_t count, float* out);
  /// x = cap · tanh(x · (1/cap)), element by element in place. Shapes: [count]. cap > 0.
  void (*softcap)(float* x, std::size_t count, float cap);
};

/// The normative bodies, compiled for the baseline instruction set.
const op_table& reference_ops();
/// The same bodies compiled with AVX2 and FMA (same bits); null where this CPU or build lacks them.
const op_table* reference_fma_ops();
/// The fastest table this CPU runs.
const op_table& best_ops();
/// Every table this CPU runs, the normative one first.
std::span<const op_table* const> all_ops();

}  // namespace infer::kernels
