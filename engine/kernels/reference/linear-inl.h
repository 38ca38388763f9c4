// Linear operations by the numeric contract: quantized weights on quantized activations, and floats. Included inside
// the namespace of each body.

// Epilogue of one output: bias, scale, residual, one rounding each.
inline void finish_linear(const linear_args& a, std::uint32_t row, std::uint32_t token, float y) {
  if (a.bias != nullptr) y = y + a.bias[row];
  if (a.scale != 1.0f) y = y * a.scale;
  const std::size_t at = std::size_t{token} * a.w.rows + row;
  if (a.residual != nullptr) y = a.residual[at] + y;
  a.y[at] = y;
}

inline std::int32_t dot_codes(const std::int8_t* a, const std::int8_t* b, std::uint32_t count) {
  std::int32_t sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) sum += std::int32_t{a[i]} * std::int32_t{b[i]};
  return sum;
}

inline constexpr std::uint32_t chunk_elements = 512;
inline constexpr std::uint32_t token_tile = 32;

// One row of g32 blocks times up to `token_tile` tokens.
inline void g32_row(const linear_args& a, std::uint32_t row, std::uint32_t first, std::uint32_t count) {
  constexpr std::uint32_t groups_per_chunk = chunk_elements / quant::g32_elements;
  const quantized_rows& x = *a.q;
  const std::byte* block = a.w.bytes + row * a.w.stride;
  const std::size_t block_bytes = a.w.stride / x.groups;
  const bool minimum = quant::has_minimum(a.w.type);
  float y[token_tile] = {};
  for (std::uint32_t group = 0; group < x.groups;) {
    const std::uint32_t end = group + groups_per_chunk < x.groups ? group + groups_per_chunk : x.groups;
    float acc[token_tile] = {};
    for (; group < end; ++group, block += block_bytes) {
      quant::g32_block w;
      quant::unpack_g32(a.w.type, block, w);
      for (std::uint32_t t = 0; t < count; ++t) {
        const std::size_t at = std::size_t{first + t} * x.groups + group;
        const std::int32_t sum = dot_codes(w.q.data(), x.codes + at * quant::g32_elements, quant::g32_elements);
        acc[t] = std::fma(static_cast<float>(sum), w.d * x.scales[at], acc[t]);
        if (minimum) acc[t] = std::fma(w.m, x.sums_scaled[at], acc[t]);
      }
    }
    for (std::uint32_t t = 0; t < count; ++t) y[t] = y[t] + acc[t];
  }
  for (std::uint32_t t = 0; t < count; ++t) finish_linear(a, row, first + t, y[t]);
}

// One row of g256 blocks times up to `token_tile` tokens.
inline void g256_row(const linear_args& a, std::uint32_t row, std::uint32_t first, std::uint32_t count) {
  constexpr std::uint32_t groups_per_chunk = chunk_elements / quant::g256_elements;
  const quantized_rows& x = *a.q;
  const std::byte* block = a.w.bytes + row * a.w.stride;
  const std::size_t block_bytes = a.w.stride / x.groups;
  const bool minimum = quant::has_minimum(a.w.type);
  float y[token_tile] = {};
  for (std::uint32_t group = 0; group < x.groups;) {
    const std::uint32_t end = group + groups_per_chunk < x.groups ? group + groups_per_chunk : x.groups;
    float acc[token_tile] = {};
    for (; group < end; ++group, block += block_bytes) {
      quant::g256_block w;
      quant::unpack_g256(a.w.type, block, w);
      for (std::uint32_t t = 0; t < count; ++t) {
        const std::size_t at = std::size_t{first + t} * x.groups + group;
        const std::int8_t* codes = x.codes + at * quant::g256_elements;
        const std::int16_t* sums = x.sums + at * quant::g256_subs;
        std::int32_t scaled = 0, minima = 0;
        for (std::uint32_t sub = 0; sub < quant::g256_subs; ++sub) {
          const std::uint32_t from = sub * quant::g256_sub_elements;
          scaled += std::int32_t{w.sc[sub]} * dot_codes(w.q.data() + from, codes + from, quant::g256_sub_elements);
          minima += std::int32_t{w.mn[sub]} * std::int32_t{sums[sub]};
        }
        acc[t] = std::fma(static_cast<float>(scaled), w.d * x.scales[at], acc[t]);
        if (minimum) acc[t] = std::fma(-static_cast<float>(minima), w.dmin * x.scales[at], acc[t]);
      }
    }
    for (std::uint32_t t = 0; t < count; ++t) y[t] = y[t] + acc[t];
  }
  for (std::uint32_t t = 0; t < count; ++t) finish_linear(a, row, first + t, y[t]);
}

// `count` ≤ chunk_elements values of a row from element `from` (a multiple of 256) as f32.
inline void row_values(const matrix_view& w, std::uint32_t row, std::uint32_t from, std::uint32_t count, float* out) {
  const std::byte* bytes = w.bytes + row * w.stride;
  switch (quant::form_of(w.type)) {
    case quant::canonical_form::floating:
      for (std::uint32_t i = 0; i < count; ++i) {
        if (w.type == tensor_type::f32) {
          out[i] = load_le<float>(bytes + std::size_t{from + i} * 4);
        } else {
          const auto code = load_le<std::uint16_t>(bytes + std::size_t{from + i} * 2);
          out[i] = w.type == tensor_type::f16 ? f16_to_f32(code) : bf16_to_f32(code);
        }
      }
      return;
    case quant::canonical_form::g32: {
      const std::size_t block_bytes = w.stride / (w.columns / quant::g32_elements);
      const bool minimum = quant::has_minimum(w.type);
      for (std::uint32_t i = 0; i < count; i += quant::g32_elements) {
        quant::g32_block b;
        quant::unpack_g32(w.type, bytes + (from + i) / quant::g32_elements * block_bytes, b);
        for (std::uint32_t j = 0; j < quant::g32_elements; ++j) {
          const float value = b.d * static_cast<float>(b.q[j]);
          out[i + j] = minimum ? value + b.m : value;
        }
      }
      return;
    }
    case quant::canonical_form::g256: {
      const std::size_t block_bytes = w.stride / (w.columns / quant::g256_elements);
      const bool minimum = quant::has_minimum(w.type);
      for (std::uint32_t i = 0; i < count; i += quant::g256_elements) {
        quant::g256_block b;
        quant::unpack_g256(w.type, bytes + (from + i) / quant::g256_elements * block_bytes, b);
        for (std::uint32_t j = 0; j < quant::g256_elements; ++j) {
          const std::uint32_t sub = j / quant::g256_sub_elements;
          const float value = (b.d * static_cast<float>(b.sc[sub])) * static_cast<float>(b.q[j]);
          out[i + j] = minimum ? value - b.dmin * static_cast<float>(b.mn[sub]) : value;
        }
      }
      return;
    }
  }
}

// The float rule for up to `token_tile` tokens: one chain of fma per output, in column order.
inline void float_row(const linear_args& a, std::uint32_t row, std::uint32_t first, std::uint32_t count) {
  float y[token_tile] = {};
  float w[chunk_elements];
  for (std::uint32_t from = 0; from < a.w.columns; from += chunk_elements) {
    const std::uint32_t width = a.w.columns - from < chunk_elements ? a.w.columns - from : chunk_elements;
    row_values(a.w, row, from, width, w);
    float acc[token_tile] = {};
    // Eight tokens at a time keep eight chains in flight; each chain still runs in column order.
    std::uint32_t t = 0;
    for (; t + 8 <= count; t += 8) {
      const float* x = a.x + std::size_t{first + t} * a.w.columns + from;
      const std::size_t stride = a.w.columns;
      float c[8] = {};
      for (std::uint32_t i = 0; i < width; ++i) {
        for (std::uint32_t j = 0; j < 8; ++j) c[j] = std::fma(w[i], x[j * stride + i], c[j]);
      }
      for (std::uint32_t j = 0; j < 8; ++j) acc[t + j] = c[j];
    }
    for (; t < count; ++t) {
      const float* x = a.x + std::size_t{first + t} * a.w.columns + from;
      float c = 0.0f;
      for (std::uint32_t i = 0; i < width; ++i) c = std::fma(w[i], x[i], c);
      acc[t] = c;
    }
    for (std::uint32_t i = 0; i < count; ++i) y[i] = y[i] + acc[i];
  }
  for (std::uint32_t t = 0; t < count; ++t) finish_linear(a, row, first + t, y[t]);
}

inline void linear(const linear_args& a, row_range rows) {
  const bool quantized = a.q != nullptr;
  const auto form = quant::form_of(a.w.type);
  for (std::uint32_t first = 0; first < a.tokens; first += token_tile) {
    const std::uint32_t count = a.tokens - first < token_tile ? a.tokens - first : token_tile;
    for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
      if (!quantized || form == quant::canonical_form::floating)
        float_row(a, row, first, count);
      else if (form == quant::canonical_form::g32)
        g32_row(a, row, first, count);
      else
        g256_row(a, row, first, count);
    }
  }
}

inline void embed_row(const matrix_view& w, std::uint32_t row, float* out) {
  for (std::uint32_t from = 0; from < w.columns; from += chunk_elements) {
    const std::uint32_t width = w.columns - from < chunk_elements ? w.columns - from : chunk_elements;
    row_values(w, row, from, width, out + from);
  }
}

// Codes of one group: q = rne(x·127/amax), 0 where amax < 2⁻¹⁰⁰. Returns the scale. Where a value is not finite the
// codes are 0 and the scale is no number, so that what is computed from it is none either.
inline float quantize_group(const float* x, std::uint32_t count, std::int8_t* codes) {
  // Magnitudes compare as their bits do, infinity and NaN above all others.
  std::uint32_t most = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu;
    most = magnitude > most ? magnitude : most;
  }
  const float amax = std::bit_cast<float>(most);
  const bool finite = most < 0x7f800000u;
  if (!finite || amax < 0x1p-100f) {
    for (std::uint32_t i = 0; i < count; ++i) codes[i] = 0;
    return finite ? 0.0f : std::numeric_limits<float>::quiet_NaN();
  }
  const float r = 127.0f / amax;
  for (std::uint32_t i = 0; i < count; ++i) codes[i] = static_cast<std::int8_t>(round_even(x[i] * r));
  return amax / 127.0f;
}

inline void quantize_g32(const float* x, std::uint32_t tokens, std::uint32_t width, const quantized_rows& out) {
  for (std::uint32_t t = 0; t < tokens; ++t) {
    for (std::uint32_t group = 0; group < out.groups; ++group) {
      const std::size_t at = std::size_t{t} * out.groups + group;
      std::int8_t* codes = out.codes + at * quant::g32_elements;
      const float da =
          quantize_group(x + std::size_t{t} * width + group * quant::g32_elements, quant::g32_elements, codes);
      std::int32_t sum = 0;
      for (std::uint32_t i = 0; i < quant::g32_elements; ++i) sum += codes[i];
      out.scales[at] = da;
      out.negative_sums[at] = -sum;
      out.sums_scaled[at] = da * static_cast<float>(sum);
    }
  }
}

inline void quantize_g256(const float* x, std::uint32_t tokens, std::uint32_t width, const quantized_rows& out) {
  for (std::uint32_t t = 0; t < tokens; ++t) {
    for (std::uint32_t group = 0; group < out.groups; ++group) {
      const std::size_t at = std::size_t{t} * out.groups + group;
      std::int8_t* codes = out.codes + at * quant::g256_elements;
      out.scales[at] =
          quantize_group(x + std::size_t{t} * width + group * quant::g256_elements, quant::g256_elements, codes);
      for (std::uint32_t sub = 0; sub < quant::g256_subs; ++sub) {
        std::int32_t sum = 0;
        for (std::uint32_t i = 0; i < quant::g256_sub_elements; ++i) sum += codes[sub * quant::g256_sub_elements + i];
        out.sums[at * quant::g256_subs + sub] = static_cast<std::int16_t>(sum);
      }
      const std::int16_t* pairs = out.sums + at * quant::g256_subs;
      for (std::uint32_t run = 0; run < quant::g256_subs / 2; ++run)
        out.sums32[at * (quant::g256_subs / 2) + run] = static_cast<std::int16_t>(pairs[2 * run] + pairs[2 * run + 1]);
    }
  }
}
