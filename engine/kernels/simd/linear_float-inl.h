// Linear operations by the float rule: float weights, and dequantized ones where activations stay f32. Included once
// per target inside its namespace.

/// Calls f with the quantized type, as a constant, whose body serves `type`: types packed alike share one.
template <class F>
HWY_INLINE void with_body_type(tensor_type type, const F& f) {
  switch (type) {
    case tensor_type::q4_0:
      return f(std::integral_constant<tensor_type, tensor_type::q4_0>{});
    case tensor_type::q4_1:
      return f(std::integral_constant<tensor_type, tensor_type::q4_1>{});
    case tensor_type::q5_0:
      return f(std::integral_constant<tensor_type, tensor_type::q5_0>{});
    case tensor_type::q5_1:
      return f(std::integral_constant<tensor_type, tensor_type::q5_1>{});
    case tensor_type::q8_0:
      return f(std::integral_constant<tensor_type, tensor_type::q8_0>{});
    case tensor_type::iq4_nl:
    case tensor_type::mxfp4:
      return f(std::integral_constant<tensor_type, tensor_type::iq4_nl>{});
    case tensor_type::q4_k:
      return f(std::integral_constant<tensor_type, tensor_type::q4_k>{});
    case tensor_type::q6_k:
      return f(std::integral_constant<tensor_type, tensor_type::q6_k>{});
    case tensor_type::q2_k:
    case tensor_type::q5_k:
      return f(std::integral_constant<tensor_type, tensor_type::q5_k>{});
    default:  // q3_k, iq4_xs
      return f(std::integral_constant<tensor_type, tensor_type::iq4_xs>{});
  }
}

/// Calls f with the float type as a constant.
template <class F>
HWY_INLINE void with_float_type(tensor_type type, const F& f) {
  switch (type) {
    case tensor_type::f32:
      return f(std::integral_constant<tensor_type, tensor_type::f32>{});
    case tensor_type::f16:
      return f(std::integral_constant<tensor_type, tensor_type::f16>{});
    default:
      return f(std::integral_constant<tensor_type, tensor_type::bf16>{});
  }
}

/// Bytes of a column of a panel.
template <tensor_type type>
inline constexpr std::uint32_t float_column = quant::panel_rows * (type == tensor_type::f32 ? 4 : 2);

/// A chunk of 512 columns of a block of rows as f32.
struct float_chunk {
  HWY_ALIGN float w[chunk_elements][wide][lanes];
};

template <tensor_type type>
HWY_INLINE vec_f load_float(const block_panels& w, std::uint32_t i, std::uint32_t k) {
  const std::byte* at = w.at(i, std::size_t{k} * float_column<type>, float_column<type> / quant::panel_rows);
  if constexpr (type == tensor_type::f32) return hn::LoadU(df, reinterpret_cast<const float*>(at));
  if constexpr (type == tensor_type::f16) return load_scales(at);
  const hn::Rebind<hwy::bfloat16_t, tag_f> half;
  return hn::PromoteTo(df, hn::LoadU(half, reinterpret_cast<const hwy::bfloat16_t*>(at)));
}

/// Up to `narrow_tokens` tokens from `first` for n row vectors, one pass over their panels. Shapes: x [tokens,
/// columns]. y [tokens][n] comes out.
template <tensor_type type, std::uint32_t tokens, std::uint32_t n>
HWY_INLINE void float_narrow(std::uint32_t columns, const block_panels& w, const float* x, std::uint32_t first,
                             vec_f (&y)[tokens][n]) {
  constexpr std::uint32_t fetched = 16;  // columns at once
  x += std::size_t{first} * columns;
  for (std::uint32_t t = 0; t < tokens; ++t)
    for (std::uint32_t i = 0; i < n; ++i) y[t][i] = hn::Zero(df);
  for (std::uint32_t k = 0; k < columns;) {
    const std::uint32_t end = columns - k < chunk_elements ? columns : k + chunk_elements;
    vec_f acc[tokens][n];
    for (std::uint32_t t = 0; t < tokens; ++t)
      for (std::uint32_t i = 0; i < n; ++i) acc[t][i] = hn::Zero(df);
    while (k < end) {
      w.template fetch<n>(std::size_t{k} * float_column<type>, fetched * float_column<type>);
      const std::uint32_t stop = end - k < fetched ? end : k + fetched;
      for (; k < stop; ++k) {
        vec_f one[n];
        HWY_UNROLL(2)
        for (std::uint32_t i = 0; i < n; ++i) one[i] = load_float<type>(w, i, k);
        HWY_UNROLL(4)
        for (std::uint32_t t = 0; t < tokens; ++t) {
          const vec_f a = hn::Set(df, x[std::size_t{t} * columns + k]);
          HWY_UNROLL(2)
          for (std::uint32_t i = 0; i < n; ++i) acc[t][i] = hn::MulAdd(one[i], a, acc[t][i]);
        }
      }
    }
    for (std::uint32_t t = 0; t < tokens; ++t)
      for (std::uint32_t i = 0; i < n; ++i) y[t][i] = hn::Add(y[t][i], acc[t][i]);
  }
}

template <tensor_type type>
HWY_INLINE void dequantize_group(const block_panels& w, std::uint32_t group, std::uint32_t at, float_chunk& out) {
  using format = g32_format<type>;
  const std::size_t record = std::size_t{group / 2} * format::bytes;
  const std::uint32_t half = group % 2;
  for (std::uint32_t i = 0; i < wide; ++i) {
    const vec_f d = g32_scales<type>(w, i, record, format::scales, half);
    for_codes<type>(w, i, record, half, [&](std::uint32_t step, vec_b codes) HWY_ATTR {
      for (std::uint32_t j = 0; j < 4; ++j) {
        const vec_i one = hn::And(hn::BitCast(di, hn::ShiftRightSame(hn::BitCast(du, codes), static_cast<int>(8 * j))),
                                  hn::Set(di, 0xff));
        const vec_i code = format::zero_shift == 0 ? one : hn::Sub(one, hn::Set(di, 1 << format::zero_shift));
        vec_f value = hn::Mul(d, hn::ConvertTo(df, code));
        if constexpr (format::minima != 0) value = hn::Add(value, g32_scales<type>(w, i, record, format::minima, half));
        hn::Store(value, df, out.w[at + 4 * step + j][i]);
      }
    });
  }
}

template <tensor_type type>
HWY_INLINE void dequantize_block(const block_panels& w, std::uint32_t group, std::uint32_t at, float_chunk& out) {
  g256_unpacked u;
  using format = g256_format<type>;
  g256_unpack<type>(w, std::size_t{group} * format::bytes, u);
  for (std::uint32_t i = 0; i < wide; ++i) {
    for (std::uint32_t k = 0; k < quant::g256_elements; ++k) {
      const std::uint32_t sub = k / 16;
      const vec_i lanes4 = hn::BitCast(di, hn::Load(db, u.codes[sub][k % 16 / 4][i]));
      vec_i code = hn::And(hn::BitCast(di, hn::ShiftRightSame(hn::BitCast(du, lanes4), static_cast<int>(8 * (k % 4)))),
                           hn::Set(di, 0xff));
      if constexpr (format::zero != 0) code = hn::Sub(code, hn::Set(di, format::zero));
      const vec_f scale = hn::Mul(hn::Load(df, u.d[i]), hn::ConvertTo(df, hn::Load(di, u.sc[sub][i])));
      vec_f value = hn::Mul(scale, hn::ConvertTo(df, code));
      if constexpr (format::minimum_runs != 0) {
        const std::uint32_t run = sub * format::minimum_runs / quant::g256_subs;
        const vec_i pair = hn::Load(di, u.mn[run / 2][i]);
        const vec_i mn = run % 2 == 0 ? hn::And(pair, hn::Set(di, 0xffff)) : hn::ShiftRight<16>(pair);
        value = hn::Sub(value, hn::Mul(hn::Load(df, u.dmin[i]), hn::ConvertTo(df, mn)));
      }
      hn::Store(value, df, out.w[at + k][i]);
    }
  }
}

inline void float_unpack(tensor_type type, const block_panels& w, std::uint32_t from, std::uint32_t columns,
                         float_chunk& out) {
  if (quant::form_of(type) == quant::canonical_form::floating) {
    with_float_type(type, [&](auto constant) HWY_ATTR {
      for (std::uint32_t k = 0; k < columns; ++k)
        for (std::uint32_t i = 0; i < wide; ++i) hn::Store(load_float<constant()>(w, i, from + k), df, out.w[k][i]);
    });
    return;
  }
  with_body_type(type, [&](auto body) HWY_ATTR {
    if constexpr (quant::form_of(body()) == quant::canonical_form::g32) {
      for (std::uint32_t at = 0; at < columns; at += quant::g32_elements)
        dequantize_group<body()>(w, (from + at) / quant::g32_elements, at, out);
    } else {
      for (std::uint32_t at = 0; at < columns; at += quant::g256_elements)
        dequantize_block<body()>(w, (from + at) / quant::g256_elements, at, out);
    }
  });
}

/// One chunk for a tile of tokens: one chain of fma per output in column order.
template <std::uint32_t tokens>
HWY_INLINE void float_tile(const float_chunk& w, std::uint32_t columns, const float* x, std::size_t stride, float* c,
                           bool first) {
  vec_f acc[tokens][wide];
  HWY_UNROLL(6)
  for (std::uint32_t t = 0; t < tokens; ++t)
    for (std::uint32_t i = 0; i < wide; ++i) acc[t][i] = hn::Zero(df);
  for (std::uint32_t k = 0; k < columns; ++k) {
    const vec_f w0 = hn::Load(df, w.w[k][0]), w1 = hn::Load(df, w.w[k][1]);
    HWY_UNROLL(6)
    for (std::uint32_t t = 0; t < tokens; ++t) {
      const vec_f a = hn::Set(df, x[t * stride + k]);
      acc[t][0] = hn::MulAdd(w0, a, acc[t][0]);
      acc[t][1] = hn::MulAdd(w1, a, acc[t][1]);
    }
  }
  HWY_UNROLL(6)
  for (std::uint32_t t = 0; t < tokens; ++t) {
    for (std::uint32_t i = 0; i < wide; ++i) {
      float* to = c + (std::size_t{t} * wide + i) * lanes;
      hn::Store(hn::Add(first ? hn::Zero(df) : hn::Load(df, to), acc[t][i]), df, to);
    }
  }
}

/// `count` ≤ block_tokens tokens from `first`. Shapes: x [tokens, columns]; c [count][wide · lanes].
inline void float_block(const matrix_view& m, const block_panels& w, const float* x, std::uint32_t first,
                        std::uint32_t count, const block_outputs& out, float* c) {
  float_chunk chunk;
  for (std::uint32_t from = 0; from < m.columns; from += chunk_elements) {
    const std::uint32_t columns = m.columns - from < chunk_elements ? m.columns - from : chunk_elements;
    float_unpack(m.type, w, from, columns, chunk);
    for (std::uint32_t t = 0; t < count; t += tile_tokens) {
      const std::uint32_t n = count - t < tile_tokens ? count - t : tile_tokens;
      if (from + columns == m.columns) out.fetch(t, n);
      with_count<tile_tokens>(n, [&](auto tokens) HWY_ATTR {
        float_tile<tokens()>(chunk, columns, x + std::size_t{first + t} * m.columns + from, m.columns,
                             c + std::size_t{t} * block_rows, from == 0);
      });
    }
  }
}
