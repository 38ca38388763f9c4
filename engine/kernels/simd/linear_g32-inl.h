// Linear operations on g32 weights: few tokens straight from the panels, many through bytes unpacked once per chunk.
// Included once per target inside its namespace.

/// How a record of 64 columns of a g32 type is read. `zero_shift`: codes are stored with 2^zero_shift added; 0:
/// nothing.
template <tensor_type type>
struct g32_format;
template <>
struct g32_format<tensor_type::q4_0> {
  static constexpr std::uint32_t bytes = 576, scales = 512, minima = 0;
  static constexpr int zero_shift = 3;
  static constexpr bool small = true;
};
template <>
struct g32_format<tensor_type::q4_1> {
  static constexpr std::uint32_t bytes = 640, scales = 512, minima = 576;
  static constexpr int zero_shift = 0;
  static constexpr bool small = true;
};
template <>
struct g32_format<tensor_type::q5_0> {
  static constexpr std::uint32_t bytes = 704, scales = 640, minima = 0;
  static constexpr int zero_shift = 4;
  static constexpr bool small = true;
};
template <>
struct g32_format<tensor_type::q8_0> {
  static constexpr std::uint32_t bytes = 1088, scales = 1024, minima = 0;
  static constexpr int zero_shift = 7;
  static constexpr bool small = false;
};
template <>
struct g32_format<tensor_type::q5_1> {
  static constexpr std::uint32_t bytes = 1280, scales = 1024, minima = 1152;
  static constexpr int zero_shift = 0;
  static constexpr bool small = true;
};
/// Also mxfp4's.
template <>
struct g32_format<tensor_type::iq4_nl> {
  static constexpr std::uint32_t bytes = 1280, scales = 1024, minima = 0;
  static constexpr int zero_shift = 7;
  static constexpr bool small = false;
};

/// Whether codes are packed as bytes; but for q8_0 scales and minima are f32 then.
template <tensor_type type>
inline constexpr bool has_byte_codes = g32_format<type>::bytes >= 1088;

/// Scales or minima of row vector i, of those that begin at `offset` of a record.
template <tensor_type type>
HWY_INLINE vec_f g32_scales(const block_panels& w, std::uint32_t i, std::size_t record, std::uint32_t offset,
                            std::uint32_t half) {
  if constexpr (g32_format<type>::bytes == 1280)
    return hn::LoadU(df, reinterpret_cast<const float*>(w.at(i, record + offset + half * 64, 4)));
  else
    return load_scales(w.at(i, record + offset + half * 32, 2));
}

/// The codes of 32 columns of row vector i: f(step, codes) for steps 0 to 7 in any order, step s holds columns 4s to
/// 4s+3.
template <tensor_type type, class F>
HWY_INLINE void for_codes(const block_panels& w, std::uint32_t i, std::size_t record, std::uint32_t half, const F& f) {
  if constexpr (has_byte_codes<type>) {
    HWY_UNROLL(8)
    for (std::uint32_t s = 0; s < 8; ++s) f(s, load_bytes(w.at(i, record + half * 512 + s * 64, 4)));
  } else {
    [[maybe_unused]] vec_i fifth = hn::Zero(di);
    if constexpr (type == tensor_type::q5_0) fifth = hn::BitCast(di, load_bytes(w.at(i, record + 512 + half * 64, 4)));
    const auto one = [&](auto v) HWY_ATTR {
      const vec_b both = load_bytes(w.at(i, record + half * 256 + v * 64, 4));
      vec_b low = low_nibbles(both), high = high_nibbles(both);
      if constexpr (type == tensor_type::q5_0) {
        const vec_i bit = hn::Set(di, 0x10101010);
        low = hn::Or(low, hn::BitCast(db, hn::And(hn::ShiftLeft<4 - v>(fifth), bit)));
        high = hn::Or(high, hn::BitCast(db, hn::And(hn::BitCast(di, hn::ShiftRight<v>(hn::BitCast(du, fifth))), bit)));
      }
      f(v, low);
      f(v + 4, high);
    };
    one(std::integral_constant<int, 0>{});
    one(std::integral_constant<int, 1>{});
    one(std::integral_constant<int, 2>{});
    one(std::integral_constant<int, 3>{});
  }
}

/// One group of 32 for `tokens` tokens: acc += (Σ q·a)·(d·da), then + m·sa.
template <tensor_type type, std::uint32_t tokens, std::uint32_t n>
HWY_INLINE void g32_group(const block_panels& w, std::size_t record, std::uint32_t half, const quantized_rows& x,
                          std::size_t at, vec_f (&acc)[tokens][n]) {
  using format = g32_format<type>;
  vec_i sum[tokens][n];
  HWY_UNROLL(4)
  for (std::uint32_t t = 0; t < tokens; ++t) {
    vec_i start = hn::Zero(di);
    if constexpr (format::zero_shift != 0)
      start = hn::ShiftLeft<format::zero_shift>(hn::Set(di, x.negative_sums[at + t * x.groups]));
    HWY_UNROLL(2)
    for (std::uint32_t i = 0; i < n; ++i) sum[t][i] = start;
  }
  HWY_UNROLL(2)
  for (std::uint32_t i = 0; i < n; ++i) {
    for_codes<type>(w, i, record, half, [&](std::uint32_t step, vec_b codes) HWY_ATTR {
      HWY_UNROLL(4)
      for (std::uint32_t t = 0; t < tokens; ++t)
        sum[t][i] = dot4<format::small>(sum[t][i], codes,
                                        four_codes(x.codes + (at + t * x.groups) * quant::g32_elements + step * 4));
    });
  }
  HWY_UNROLL(2)
  for (std::uint32_t i = 0; i < n; ++i) {
    const vec_f d = g32_scales<type>(w, i, record, format::scales, half);
    [[maybe_unused]] vec_f m = hn::Zero(df);
    if constexpr (format::minima != 0) m = g32_scales<type>(w, i, record, format::minima, half);
    HWY_UNROLL(4)
    for (std::uint32_t t = 0; t < tokens; ++t) {
      const std::size_t group = at + t * x.groups;
      acc[t][i] = hn::MulAdd(hn::ConvertTo(df, sum[t][i]), hn::Mul(d, hn::Set(df, x.scales[group])), acc[t][i]);
      if constexpr (format::minima != 0) acc[t][i] = hn::MulAdd(m, hn::Set(df, x.sums_scaled[group]), acc[t][i]);
    }
  }
}

/// Up to `narrow_tokens` tokens from `first` for n row vectors, one pass over their panels. y [tokens][n] comes out.
template <tensor_type type, std::uint32_t tokens, std::uint32_t n>
HWY_INLINE void g32_narrow(const block_panels& w, const quantized_rows& x, std::uint32_t first, vec_f (&y)[tokens][n]) {
  using format = g32_format<type>;
  constexpr std::uint32_t groups_per_chunk = chunk_elements / quant::g32_elements;
  for (std::uint32_t t = 0; t < tokens; ++t)
    for (std::uint32_t i = 0; i < n; ++i) y[t][i] = hn::Zero(df);
  std::size_t at = std::size_t{first} * x.groups, record = 0;
  for (std::uint32_t group = 0; group < x.groups;) {
    const std::uint32_t end = group + groups_per_chunk < x.groups ? group + groups_per_chunk : x.groups;
    vec_f acc[tokens][n];
    for (std::uint32_t t = 0; t < tokens; ++t)
      for (std::uint32_t i = 0; i < n; ++i) acc[t][i] = hn::Zero(df);
    for (; group < end; record += format::bytes) {
      w.template fetch<n>(record, format::bytes);
      for (std::uint32_t half = 0; half < 2 && group < end; ++half, ++group, ++at)
        g32_group<type, tokens, n>(w, record, half, x, at, acc);
    }
    for (std::uint32_t t = 0; t < tokens; ++t)
      for (std::uint32_t i = 0; i < n; ++i) y[t][i] = hn::Add(y[t][i], acc[t][i]);
  }
}

/// A chunk of 512 columns of a block of rows as bytes and f32 scales.
struct g32_chunk {
  static constexpr std::uint32_t groups = chunk_elements / quant::g32_elements;
  HWY_ALIGN std::uint8_t codes[groups][8][wide][4 * lanes];
  HWY_ALIGN float d[groups][wide][lanes];
  HWY_ALIGN float m[groups][wide][lanes];
};

/// `centred`: codes as signed bytes, with what was added to them taken off.
template <tensor_type type, bool centred = false>
HWY_INLINE void g32_unpack(const block_panels& w, std::uint32_t first, std::uint32_t groups, g32_chunk& out) {
  using format = g32_format<type>;
  for (std::uint32_t g = 0; g < groups; ++g) {
    const std::size_t record = std::size_t{(first + g) / 2} * format::bytes;
    const std::uint32_t half = (first + g) % 2;
    for (std::uint32_t i = 0; i < wide; ++i) {
      for_codes<type>(w, i, record, half, [&](std::uint32_t step, vec_b codes) HWY_ATTR {
        if constexpr (centred && format::zero_shift != 0) codes = hn::Sub(codes, hn::Set(db, 1 << format::zero_shift));
        hn::Store(codes, db, out.codes[g][step][i]);
      });
      hn::Store(g32_scales<type>(w, i, record, format::scales, half), df, out.d[g][i]);
      if constexpr (format::minima != 0)
        hn::Store(g32_scales<type>(w, i, record, format::minima, half), df, out.m[g][i]);
    }
  }
}

/// One chunk for a tile of tokens: c += the chunk's chain; c starts at +0 in the first chunk.
template <tensor_type type, std::uint32_t tokens>
HWY_INLINE void g32_tile(const g32_chunk& w, std::uint32_t groups, const quantized_rows& x, std::size_t at, float* c,
                         bool first) {
  using format = g32_format<type>;
  vec_f acc[tokens][wide];
  HWY_UNROLL(6)
  for (std::uint32_t t = 0; t < tokens; ++t)
    for (std::uint32_t i = 0; i < wide; ++i) acc[t][i] = hn::Zero(df);
  for (std::uint32_t g = 0; g < groups; ++g, ++at) {
    vec_i sum[tokens][wide];
    HWY_UNROLL(6)
    for (std::uint32_t t = 0; t < tokens; ++t) {
      vec_i start = hn::Zero(di);
      if constexpr (format::zero_shift != 0)
        start = hn::ShiftLeft<format::zero_shift>(hn::Set(di, x.negative_sums[at + t * x.groups]));
      HWY_UNROLL(2)
      for (std::uint32_t i = 0; i < wide; ++i) sum[t][i] = start;
    }
    const std::int8_t* codes = x.codes + at * quant::g32_elements;
    HWY_UNROLL(8)
    for (std::uint32_t s = 0; s < 8; ++s) {
      const vec_b w0 = hn::Load(db, w.codes[g][s][0]), w1 = hn::Load(db, w.codes[g][s][1]);
      HWY_UNROLL(6)
      for (std::uint32_t t = 0; t < tokens; ++t) {
        const vec_b a = four_codes(codes + std::size_t{t} * x.groups * quant::g32_elements + s * 4);
        sum[t][0] = dot4<format::small>(sum[t][0], w0, a);
        sum[t][1] = dot4<format::small>(sum[t][1], w1, a);
      }
    }
    HWY_UNROLL(6)
    for (std::uint32_t t = 0; t < tokens; ++t) {
      const vec_f da = hn::Set(df, x.scales[at + t * x.groups]);
      HWY_UNROLL(2)
      for (std::uint32_t i = 0; i < wide; ++i) {
        acc[t][i] = hn::MulAdd(hn::ConvertTo(df, sum[t][i]), hn::Mul(hn::Load(df, w.d[g][i]), da), acc[t][i]);
        if constexpr (format::minima != 0)
          acc[t][i] = hn::MulAdd(hn::Load(df, w.m[g][i]), hn::Set(df, x.sums_scaled[at + t * x.groups]), acc[t][i]);
      }
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

/// `count` ≤ block_tokens tokens from `first` through whole chunks of the weights. Shapes: c [count][wide · lanes].
template <tensor_type type>
inline void g32_block(const block_panels& w, const quantized_rows& x, std::uint32_t first, std::uint32_t count,
                      const block_outputs& out, float* c) {
  g32_chunk chunk;
  for (std::uint32_t group = 0; group < x.groups; group += g32_chunk::groups) {
    const std::uint32_t groups = x.groups - group < g32_chunk::groups ? x.groups - group : g32_chunk::groups;
    g32_unpack<type>(w, group, groups, chunk);
    for (std::uint32_t t = 0; t < count; t += tile_tokens) {
      const std::uint32_t n = count - t < tile_tokens ? count - t : tile_tokens;
      if (group + groups == x.groups) out.fetch(t, n);
      with_count<tile_tokens>(n, [&](auto tokens) HWY_ATTR {
        g32_tile<type, tokens()>(chunk, groups, x, std::size_t{first + t} * x.groups + group,
                                 c + std::size_t{t} * block_rows, group == 0);
      });
    }
  }
}
