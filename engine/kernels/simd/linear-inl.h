// The linear operation over packed panels: which body a block of rows takes, and the epilogue. Included once per target
// inside its namespace.

inline constexpr std::uint32_t block_tokens = 192;  // tokens that one unpacked chunk serves

/// Where a block of rows is written for the tokens of one call. Their lines lie far apart, mostly in no near cache, and
/// are asked for while the last columns are multiplied.
struct block_outputs {
  const float* y;      // of the first token
  std::size_t stride;  // between tokens, in floats

  HWY_INLINE void fetch(std::uint32_t token, std::uint32_t count) const {
    for (std::uint32_t t = token; t < token + count; ++t)
      for (std::uint32_t at = 0; at < block_rows; at += 16) hwy::Prefetch(y + t * stride + at);
  }
};

#include "engine/kernels/simd/linear_g32-inl.h"
//
#include "engine/kernels/simd/g256_records-inl.h"
//
#include "engine/kernels/simd/linear_g256-inl.h"
//
#include "engine/kernels/simd/linear_float-inl.h"

HWY_INLINE block_outputs outputs_of(const linear_args& a, std::uint32_t row, std::uint32_t first) {
  return {a.y + std::size_t{first} * a.w.rows + row, a.w.rows};
}

/// Bias, scale, residual, one rounding each, for one row vector of one token; only `valid` lanes are written.
HWY_INLINE void finish_vector(const linear_args& a, std::uint32_t row, std::uint32_t token, vec_f y) {
  const std::size_t at = std::size_t{token} * a.w.rows + row;
  if (row + lanes <= a.w.rows) {
    if (a.bias != nullptr) y = hn::Add(y, hn::LoadU(df, a.bias + row));
    if (a.scale != 1.0f) y = hn::Mul(y, hn::Set(df, a.scale));
    if (a.residual != nullptr) y = hn::Add(hn::LoadU(df, a.residual + at), y);
    hn::StoreU(y, df, a.y + at);
    return;
  }
  HWY_ALIGN float values[lanes];
  hn::Store(y, df, values);
  for (std::uint32_t l = 0; l < lanes && row + l < a.w.rows; ++l) {
    float v = values[l];
    if (a.bias != nullptr) v = v + a.bias[row + l];
    if (a.scale != 1.0f) v = v * a.scale;
    if (a.residual != nullptr) v = a.residual[at + l] + v;
    a.y[at + l] = v;
  }
}

/// The epilogue of a block of rows for `count` tokens from `first`. Shapes: c [count][wide · lanes].
HWY_INLINE void finish_block(const linear_args& a, std::uint32_t row, std::uint32_t first, std::uint32_t count,
                             const float* c) {
  for (std::uint32_t t = 0; t < count; ++t)
    for (std::uint32_t i = 0; i < wide; ++i)
      finish_vector(a, row + i * lanes, first + t, hn::Load(df, c + (std::size_t{t} * wide + i) * lanes));
}

/// Few tokens from `first` for n row vectors of which the first is that of `row`: one pass over their panels.
template <tensor_type type, std::uint32_t tokens, std::uint32_t n>
HWY_INLINE void narrow_rows(const linear_args& a, const block_panels& w, std::uint32_t row, std::uint32_t first) {
  vec_f y[tokens][n];
  if constexpr (quant::form_of(type) == quant::canonical_form::floating)
    float_narrow<type, tokens, n>(a.w.columns, w, a.x, first, y);
  else if constexpr (quant::form_of(type) == quant::canonical_form::g32)
    g32_narrow<type, tokens, n>(w, *a.q, first, y);
  else
    g256_narrow<type, tokens, n>(w, *a.q, first, y);
  for (std::uint32_t t = 0; t < tokens; ++t)
    for (std::uint32_t i = 0; i < n; ++i) finish_vector(a, row + i * lanes, first + t, y[t][i]);
}

template <tensor_type type>
HWY_INLINE void narrow_block(const linear_args& a, const block_panels& w, std::uint32_t row, std::uint32_t first,
                             std::uint32_t count) {
  // Where a panel is one vector, the panels of a block may also be walked one after the other.
  if constexpr (halves == 1) {
    if (count == 1 && current_tuning.panels == 1) {
      for (std::uint32_t i = 0; i < wide; ++i)
        narrow_rows<type, 1, 1>(a, block_panels{{w.panel[i]}, w.stride}, row + i * lanes, first);
      return;
    }
  }
  with_count<narrow_tokens>(count, [&](auto tokens) HWY_ATTR { narrow_rows<type, tokens(), wide>(a, w, row, first); });
}

/// A block of rows for all tokens where they are so few that unpacking does not pay.
template <tensor_type type>
HWY_INLINE void few_tokens(const linear_args& a, const block_panels& w, std::uint32_t row) {
  for (std::uint32_t first = 0; first < a.tokens; first += narrow_tokens) {
    const std::uint32_t count = a.tokens - first < narrow_tokens ? a.tokens - first : narrow_tokens;
    narrow_block<type>(a, w, row, first, count);
  }
}

template <tensor_type type>
HWY_INLINE void quantized_block(const linear_args& a, const block_panels& w, std::uint32_t row) {
  if (a.tokens <= 2 * narrow_tokens) return few_tokens<type>(a, w, row);
  HWY_ALIGN float c[block_tokens * block_rows];
  for (std::uint32_t first = 0; first < a.tokens; first += block_tokens) {
    const std::uint32_t count = a.tokens - first < block_tokens ? a.tokens - first : block_tokens;
    if constexpr (quant::form_of(type) == quant::canonical_form::g32)
      g32_block<type>(w, *a.q, first, count, outputs_of(a, row, first), c);
    else
      g256_block<type>(w, *a.q, first, count, outputs_of(a, row, first), c);
    finish_block(a, row, first, count, c);
  }
}

inline void floating_block(const linear_args& a, const block_panels& w, std::uint32_t row) {
  if (a.tokens <= 2 * narrow_tokens && quant::form_of(a.w.type) == quant::canonical_form::floating)
    return with_float_type(a.w.type, [&](auto type) HWY_ATTR { few_tokens<type()>(a, w, row); });
  HWY_ALIGN float c[block_tokens * block_rows];
  for (std::uint32_t first = 0; first < a.tokens; first += block_tokens) {
    const std::uint32_t count = a.tokens - first < block_tokens ? a.tokens - first : block_tokens;
    float_block(a.w, w, a.x, first, count, outputs_of(a, row, first), c);
    finish_block(a, row, first, count, c);
  }
}

/// The panels of the block of rows that begins at `row`.
HWY_INLINE block_panels panels_of(const matrix_view& w, std::uint32_t row) {
  const std::uint32_t panels = (w.rows + quant::panel_rows - 1) / quant::panel_rows;
  block_panels out;
  out.stride = w.stride;
  for (std::uint32_t p = 0; p < wide / halves; ++p) {
    // Where the block reaches past the last panel it computes that one twice and writes it once.
    const std::uint32_t panel = row / quant::panel_rows + p < panels ? row / quant::panel_rows + p : panels - 1;
    out.panel[p] = w.bytes + std::size_t{panel} * w.stride;
  }
  return out;
}

inline void linear(const linear_args& a, row_range rows) {
  for (std::uint32_t row = rows.begin; row < rows.end; row += block_rows) {
    const block_panels w = panels_of(a.w, row);
    if (a.q == nullptr) {
      floating_block(a, w, row);
      continue;
    }
    with_body_type(a.w.type, [&](auto type) HWY_ATTR { quantized_block<type()>(a, w, row); });
  }
}

/// A row of an embedding gathered from its panel.
inline void embed_row(const matrix_view& w, std::uint32_t row, float* out) {
  quant::unpack_panel_row(w.type, w.bytes + std::size_t{row / quant::panel_rows} * w.stride, row % quant::panel_rows, 0,
                          w.columns, out);
}
