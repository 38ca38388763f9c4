// Linear operations on g256 weights. Included once per target inside its namespace.

/// acc = fma(total, d·da, acc), then the minima, for one row vector and token.
template <tensor_type type>
HWY_INLINE vec_f g256_finish(vec_i total, vec_f d, vec_f dmin, const vec_i (&mn)[minimum_pairs<type>],
                             const quantized_rows& x, std::size_t group, vec_f acc) {
  constexpr std::uint32_t runs = g256_format<type>::minimum_runs;
  const vec_f da = hn::Set(df, x.scales[group]);
  acc = hn::MulAdd(hn::ConvertTo(df, total), hn::Mul(d, da), acc);
  if constexpr (runs != 0) {
    const std::int16_t* sums = (runs == 16 ? x.sums : x.sums32) + group * runs;
    vec_i minima = hn::Zero(di);
    HWY_UNROLL(4)
    for (std::uint32_t pair = 0; pair < runs / 2; ++pair) {
      std::int32_t two;
      std::memcpy(&two, sums + pair * 2, sizeof two);
      minima = dot2(minima, hn::Set(di, two), mn[pair]);
    }
    acc = hn::NegMulAdd(hn::ConvertTo(df, minima), hn::Mul(dmin, da), acc);
  }
  return acc;
}

/// One group of 256 for a tile of tokens: acc = fma(Σ sc·Σ q·a, d·da, acc), then the minima.
template <tensor_type type, std::uint32_t tokens>
HWY_INLINE void g256_group(const g256_unpacked& w, const quantized_rows& x, std::size_t at, float* acc) {
  vec_i total[tokens][wide];
  HWY_UNROLL(6)
  for (std::uint32_t t = 0; t < tokens; ++t)
    for (std::uint32_t i = 0; i < wide; ++i) total[t][i] = hn::Zero(di);
  for (std::uint32_t sub = 0; sub < quant::g256_subs; ++sub) {
    vec_i sum[tokens][wide];
    HWY_UNROLL(6)
    for (std::uint32_t t = 0; t < tokens; ++t) {
      const vec_i start = g256_start<type>(x, at + t * x.groups, sub);
      HWY_UNROLL(2)
      for (std::uint32_t i = 0; i < wide; ++i) sum[t][i] = start;
    }
    const std::int8_t* codes = x.codes + at * quant::g256_elements + sub * quant::g256_sub_elements;
    HWY_UNROLL(4)
    for (std::uint32_t v = 0; v < 4; ++v) {
      const vec_b w0 = hn::Load(db, w.codes[sub][v][0]), w1 = hn::Load(db, w.codes[sub][v][1]);
      HWY_UNROLL(6)
      for (std::uint32_t t = 0; t < tokens; ++t) {
        const vec_b a = four_codes(codes + std::size_t{t} * x.groups * quant::g256_elements + v * 4);
        sum[t][0] = dot4<g256_format<type>::small>(sum[t][0], w0, a);
        sum[t][1] = dot4<g256_format<type>::small>(sum[t][1], w1, a);
      }
    }
    HWY_UNROLL(2)
    for (std::uint32_t i = 0; i < wide; ++i) {
      const vec_i sc = hn::Load(di, w.sc[sub][i]);
      HWY_UNROLL(6)
      for (std::uint32_t t = 0; t < tokens; ++t) {
        // A run of 16 of q4_k is at most 15·127·16 and fits 16 bits; the upper half of its scale's lane is zero.
        if constexpr (type == tensor_type::q4_k)
          total[t][i] = dot2(total[t][i], sum[t][i], sc);
        else
          total[t][i] = hn::Add(total[t][i], hn::Mul(sum[t][i], sc));
      }
    }
  }
  HWY_UNROLL(2)
  for (std::uint32_t i = 0; i < wide; ++i) {
    vec_i mn[minimum_pairs<type>];
    for (std::uint32_t pair = 0; pair < minimum_pairs<type>; ++pair) mn[pair] = hn::Load(di, w.mn[pair][i]);
    HWY_UNROLL(6)
    for (std::uint32_t t = 0; t < tokens; ++t) {
      float* to = acc + (std::size_t{t} * wide + i) * lanes;
      hn::Store(g256_finish<type>(total[t][i], hn::Load(df, w.d[i]), hn::Load(df, w.dmin[i]), mn, x, at + t * x.groups,
                                  hn::Load(df, to)),
                df, to);
    }
  }
}

/// Up to `narrow_tokens` tokens from `first` for n row vectors, one pass over their panels. y [tokens][n] comes out.
template <tensor_type type, std::uint32_t tokens, std::uint32_t n>
HWY_INLINE void g256_narrow(const block_panels& w, const quantized_rows& x, std::uint32_t first,
                            vec_f (&y)[tokens][n]) {
  using format = g256_format<type>;
  constexpr std::uint32_t bytes = format::bytes;
  constexpr std::uint32_t groups_per_chunk = chunk_elements / quant::g256_elements;
  vec_f acc[tokens][n];
  for (std::uint32_t t = 0; t < tokens; ++t)
    for (std::uint32_t i = 0; i < n; ++i) y[t][i] = acc[t][i] = hn::Zero(df);
  std::size_t record = 0, at = std::size_t{first} * x.groups;
  for (std::uint32_t group = 0; group < x.groups; ++group, ++at, record += bytes) {
    w.template fetch<n>(record, bytes);
    vec_i total[tokens][n];
    for (std::uint32_t t = 0; t < tokens; ++t)
      for (std::uint32_t i = 0; i < n; ++i) total[t][i] = hn::Zero(di);
    for (std::uint32_t sub = 0; sub < 8; ++sub) {
      HWY_UNROLL(2)
      for (std::uint32_t i = 0; i < n; ++i) {
        vec_i sum[tokens][2];
        HWY_UNROLL(4)
        for (std::uint32_t t = 0; t < tokens; ++t) {
          sum[t][0] = g256_start<type>(x, at + t * x.groups, 2 * sub);
          sum[t][1] = g256_start<type>(x, at + t * x.groups, 2 * sub + 1);
        }
        for_codes_k<type>(w, i, record, sub, [&](auto step, vec_b codes) HWY_ATTR {
          HWY_UNROLL(4)
          for (std::uint32_t t = 0; t < tokens; ++t) {
            const std::int8_t* a = x.codes + (at + t * x.groups) * quant::g256_elements + sub * 32;
            sum[t][step / 4] = dot4<format::small>(sum[t][step / 4], codes, four_codes(a + step * 4));
          }
        });
        vec_i sc[2];
        load_sub_scales<type>(w, i, record, sub, sc);
        HWY_UNROLL(4)
        for (std::uint32_t t = 0; t < tokens; ++t) {
          for (std::uint32_t run = 0; run < 2; ++run) {
            // A run of 16 of q4_k is at most 15·127·16 and fits 16 bits; the upper half of its scale's lane is zero.
            total[t][i] = type == tensor_type::q4_k ? dot2(total[t][i], sum[t][run], sc[run])
                                                    : hn::Add(total[t][i], hn::Mul(sum[t][run], sc[run]));
          }
        }
      }
    }
    HWY_UNROLL(2)
    for (std::uint32_t i = 0; i < n; ++i) {
      const vec_f d = load_scales(w.at(i, record + format::d, 2));
      vec_f dmin = hn::Zero(df);
      vec_i mn[minimum_pairs<type>] = {};
      if constexpr (format::minimum_runs != 0) {
        dmin = load_scales(w.at(i, record + format::dmin, 2));
        load_minima<type>(w, i, record, mn);
      }
      HWY_UNROLL(4)
      for (std::uint32_t t = 0; t < tokens; ++t)
        acc[t][i] = g256_finish<type>(total[t][i], d, dmin, mn, x, at + t * x.groups, acc[t][i]);
    }
    if ((group + 1) % groups_per_chunk == 0 || group + 1 == x.groups) {
      for (std::uint32_t t = 0; t < tokens; ++t) {
        for (std::uint32_t i = 0; i < n; ++i) {
          y[t][i] = hn::Add(y[t][i], acc[t][i]);
          acc[t][i] = hn::Zero(df);
        }
      }
    }
  }
}

/// `count` ≤ block_tokens tokens from `first`. Shapes: c [count][wide · lanes].
template <tensor_type type>
inline void g256_block(const block_panels& w, const quantized_rows& x, std::uint32_t first, std::uint32_t count,
                       const block_outputs& out, float* c) {
  constexpr std::uint32_t groups_per_chunk = chunk_elements / quant::g256_elements;
  constexpr std::uint32_t bytes = g256_format<type>::bytes;
  g256_unpacked unpacked;
  HWY_ALIGN float acc[block_tokens * block_rows];
  for (std::uint32_t group = 0; group < x.groups;) {
    const std::uint32_t end = group + groups_per_chunk < x.groups ? group + groups_per_chunk : x.groups;
    const bool first_chunk = group == 0;
    std::memset(acc, 0, std::size_t{count} * block_rows * sizeof(float));
    for (; group < end; ++group) {
      const std::size_t record = std::size_t{group} * bytes;
      w.template fetch<wide>(record, bytes);
      g256_unpack<type>(w, record, unpacked);
      for (std::uint32_t t = 0; t < count; t += tile_tokens) {
        const std::uint32_t n = count - t < tile_tokens ? count - t : tile_tokens;
        if (group + 1 == x.groups) out.fetch(t, n);
        with_count<tile_tokens>(n, [&](auto tokens) HWY_ATTR {
          g256_group<type, tokens()>(unpacked, x, std::size_t{first + t} * x.groups + group,
                                     acc + std::size_t{t} * block_rows);
        });
      }
    }
    for (std::uint32_t at = 0; at < count * block_rows; at += lanes) {
      const vec_f before = first_chunk ? hn::Zero(df) : hn::Load(df, c + at);
      hn::Store(hn::Add(before, hn::Load(df, acc + at)), df, c + at);
    }
  }
}
