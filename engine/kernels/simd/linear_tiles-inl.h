// Linear operations on g32 weights for many tokens with AMX: tiles of 16 tokens by 16 rows whose integer sums are
// exact, then the contract's chain over the groups. Included in the AVX-512 VNNI target's namespace alone.
//
// Hazards: tile registers are not the compiler's. They are configured inside one call, which puts back the
// configuration that it found: other libraries of the process configure a thread's tiles once and for all.

/// Tokens that two tiles of activations hold.
inline constexpr std::uint32_t tile_pair_tokens = 32;
/// Groups whose sums lie in memory before they are folded.
inline constexpr std::uint32_t tile_groups = 4;
/// Fewer tokens are left to the other bodies.
inline constexpr std::uint32_t fewest_tile_tokens = 16;

/// What LDTILECFG reads.
struct alignas(64) tile_shapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

/// Tiles 0 to 3 hold sums [tokens, 16], 4 and 5 activations [tokens, 32], 6 and 7 weights [8, 16 · 4].
inline tile_shapes shapes_for(std::uint32_t first_tokens, std::uint32_t second_tokens) {
  tile_shapes out;
  const auto set = [&](int tile, std::uint32_t rows, std::uint16_t bytes) {
    out.rows[tile] = static_cast<std::uint8_t>(rows);
    out.row_bytes[tile] = bytes;
  };
  // A tile without rows would be no tile: where there is no second half it has one row that nobody reads.
  const std::uint32_t second = second_tokens == 0 ? 1 : second_tokens;
  for (int i = 0; i < 2; ++i) {
    set(i, first_tokens, 64);
    set(2 + i, second, 64);
    set(6 + i, 8, 64);
  }
  set(4, first_tokens, 32);
  set(5, second, 32);
  return out;
}

inline void configure_tiles(const tile_shapes& shapes) {
  __asm__ volatile("ldtilecfg %0" : : "m"(shapes));
}
/// Keeps the configuration of the thread's tiles as it was.
class kept_tiles {
 public:
  kept_tiles() { __asm__ volatile("sttilecfg %0" : "=m"(before_)); }
  ~kept_tiles() {
    if (before_.palette == 0)
      __asm__ volatile("tilerelease" : :);
    else
      configure_tiles(before_);
  }

 private:
  tile_shapes before_;
};

/// Integer sums of one group: out [token][row vector][lane]. Shapes: weights [8][wide][64]; activations of a token
/// `stride` bytes apart.
inline void tile_sums(const std::uint8_t* weights, const std::int8_t* first, const std::int8_t* second,
                      std::size_t stride, bool both, std::int32_t* out) {
  constexpr std::size_t weight_stride = wide * 64, out_stride = wide * 64;
  __asm__ volatile(
      "tilezero %%tmm0\n\t"
      "tilezero %%tmm1\n\t"
      "tileloadd (%0,%1,1), %%tmm6\n\t"
      "tileloadd 64(%0,%1,1), %%tmm7\n\t"
      "tileloadd (%2,%3,1), %%tmm4\n\t"
      "tdpbssd %%tmm6, %%tmm4, %%tmm0\n\t"
      "tdpbssd %%tmm7, %%tmm4, %%tmm1\n\t"
      "tilestored %%tmm0, (%4,%5,1)\n\t"
      "tilestored %%tmm1, 64(%4,%5,1)\n\t"
      :
      : "r"(weights), "r"(weight_stride), "r"(first), "r"(stride), "r"(out), "r"(out_stride)
      : "memory");
  if (!both) return;
  __asm__ volatile(
      "tilezero %%tmm2\n\t"
      "tilezero %%tmm3\n\t"
      "tileloadd (%0,%1,1), %%tmm5\n\t"
      "tdpbssd %%tmm6, %%tmm5, %%tmm2\n\t"
      "tdpbssd %%tmm7, %%tmm5, %%tmm3\n\t"
      "tilestored %%tmm2, (%2,%3,1)\n\t"
      "tilestored %%tmm3, 64(%2,%3,1)\n\t"
      :
      : "r"(second), "r"(stride), "r"(out + std::size_t{16} * wide * lanes), "r"(out_stride)
      : "memory");
}

/// The chain of `tokens` tokens over `groups` groups whose sums lie in `sums` [group][token][wide][lanes].
template <tensor_type type, std::uint32_t tokens>
HWY_INLINE void fold_sums(const g32_chunk& w, std::uint32_t first_group, std::uint32_t groups, const quantized_rows& x,
                          std::size_t at, const std::int32_t* sums, float* acc) {
  using format = g32_format<type>;
  vec_f chain[tokens][wide];
  HWY_UNROLL(4)
  for (std::uint32_t t = 0; t < tokens; ++t)
    for (std::uint32_t i = 0; i < wide; ++i) chain[t][i] = hn::Load(df, acc + (t * wide + i) * lanes);
  for (std::uint32_t g = 0; g < groups; ++g) {
    const std::int32_t* of_group = sums + std::size_t{g} * tile_pair_tokens * wide * lanes;
    HWY_UNROLL(2)
    for (std::uint32_t i = 0; i < wide; ++i) {
      const vec_f d = hn::Load(df, w.d[first_group + g][i]);
      [[maybe_unused]] vec_f m = hn::Zero(df);
      if constexpr (format::minima != 0) m = hn::Load(df, w.m[first_group + g][i]);
      HWY_UNROLL(4)
      for (std::uint32_t t = 0; t < tokens; ++t) {
        const std::size_t group = at + std::size_t{t} * x.groups + g;
        const vec_f sum = hn::ConvertTo(df, hn::Load(di, of_group + (t * wide + i) * lanes));
        chain[t][i] = hn::MulAdd(sum, hn::Mul(d, hn::Set(df, x.scales[group])), chain[t][i]);
        if constexpr (format::minima != 0) chain[t][i] = hn::MulAdd(m, hn::Set(df, x.sums_scaled[group]), chain[t][i]);
      }
    }
  }
  HWY_UNROLL(4)
  for (std::uint32_t t = 0; t < tokens; ++t)
    for (std::uint32_t i = 0; i < wide; ++i) hn::Store(chain[t][i], df, acc + (t * wide + i) * lanes);
}

/// One chunk for up to two tiles of tokens: c += the chunk's chain; c starts at +0 in the first chunk. The tiles are
/// configured.
template <tensor_type type>
HWY_INLINE void tiles_chunk(const g32_chunk& w, std::uint32_t groups, const quantized_rows& x, std::size_t at,
                            std::uint32_t tokens, float* c, bool first) {
  constexpr std::uint32_t together = 4;
  HWY_ALIGN std::int32_t sums[tile_groups][tile_pair_tokens][wide][lanes];
  HWY_ALIGN float acc[tile_pair_tokens][wide][lanes];
  std::memset(acc, 0, sizeof acc);
  const std::size_t stride = std::size_t{x.groups} * quant::g32_elements;
  for (std::uint32_t g = 0; g < groups; g += tile_groups) {
    const std::uint32_t n = groups - g < tile_groups ? groups - g : tile_groups;
    for (std::uint32_t j = 0; j < n; ++j) {
      const std::int8_t* codes = x.codes + (at + g + j) * quant::g32_elements;
      tile_sums(w.codes[g + j][0][0], codes, codes + 16 * stride, stride, tokens > 16, &sums[j][0][0][0]);
    }
    for (std::uint32_t t = 0; t < tokens; t += together) {
      with_count<together>(tokens - t < together ? tokens - t : together, [&](auto count) HWY_ATTR {
        fold_sums<type, count()>(w, g, n, x, at + std::size_t{t} * x.groups + g, &sums[0][t][0][0], &acc[t][0][0]);
      });
    }
  }
  for (std::uint32_t v = 0; v < tokens * wide; ++v) {
    const vec_f before = first ? hn::Zero(df) : hn::Load(df, c + v * lanes);
    hn::Store(hn::Add(before, hn::Load(df, &acc[0][0][0] + v * lanes)), df, c + v * lanes);
  }
}

/// `count` ≤ block_tokens tokens from `first` through whole chunks of the weights. Shapes: c [count][wide · lanes].
template <tensor_type type>
inline void tiles_block(const block_panels& w, const quantized_rows& x, std::uint32_t first, std::uint32_t count,
                        float* c) {
  g32_chunk chunk;
  const std::uint32_t rest = count % tile_pair_tokens;
  const tile_shapes whole = shapes_for(16, 16), last = shapes_for(rest < 16 ? rest : 16, rest > 16 ? rest - 16 : 0);
  for (std::uint32_t group = 0; group < x.groups; group += g32_chunk::groups) {
    const std::uint32_t groups = x.groups - group < g32_chunk::groups ? x.groups - group : g32_chunk::groups;
    g32_unpack<type, true>(w, group, groups, chunk);
    if (count >= tile_pair_tokens) configure_tiles(whole);
    for (std::uint32_t t = 0; t < count; t += tile_pair_tokens) {
      const std::uint32_t n = count - t < tile_pair_tokens ? count - t : tile_pair_tokens;
      if (n < tile_pair_tokens) configure_tiles(last);
      tiles_chunk<type>(chunk, groups, x, std::size_t{first + t} * x.groups + group, n, c + std::size_t{t} * block_rows,
                        group == 0);
    }
  }
}

inline void linear_tiles(const linear_args& a, row_range rows) {
  if (a.q == nullptr || a.tokens < fewest_tile_tokens || quant::form_of(a.w.type) != quant::canonical_form::g32)
    return linear(a, rows);
  const kept_tiles kept;
  HWY_ALIGN float c[block_tokens * block_rows];
  for (std::uint32_t row = rows.begin; row < rows.end; row += block_rows) {
    const block_panels w = panels_of(a.w, row);
    for (std::uint32_t first = 0; first < a.tokens; first += block_tokens) {
      const std::uint32_t count = a.tokens - first < block_tokens ? a.tokens - first : block_tokens;
      with_body_type(a.w.type, [&](auto type) HWY_ATTR {
        if constexpr (quant::form_of(type()) == quant::canonical_form::g32)
          tiles_block<type()>(w, *a.q, first, count, c);
      });
      finish_block(a, row, first, count, c);
    }
  }
}
