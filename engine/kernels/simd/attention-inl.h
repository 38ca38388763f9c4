// Attention over pages, a tile of queries at a time: the heads that share a kv head, of neighbouring tokens. Included
// once per target inside its namespace.

/// Queries of a tile. Each keeps its own limits; keys and values are loaded once for all.
inline constexpr std::uint32_t tile_queries = lanes == 16 ? 6 : 3;
inline constexpr std::uint32_t simd_chunk = 256;
inline constexpr std::uint32_t page_vectors = plan::page_positions / lanes;
inline constexpr std::uint32_t block_vectors = plan::key_block_positions / lanes;

template <plan::kv_type type>
HWY_INLINE vec_f load_kv(const std::byte* at) {
  if constexpr (type == plan::kv_type::f32) {
    return hn::LoadU(df, reinterpret_cast<const float*>(at));
  } else if constexpr (type == plan::kv_type::f16) {
    return load_scales(at);
  } else {
    const hn::Rebind<hwy::bfloat16_t, tag_f> half;
    return hn::PromoteTo(df, hn::LoadU(half, reinterpret_cast<const hwy::bfloat16_t*>(at)));
  }
}

/// One tile: what each query has, sees and has gathered.
struct query_tile {
  std::uint32_t count = 0;
  const float* q[tile_queries];
  float* out[tile_queries];
  std::uint32_t begin[tile_queries], end[tile_queries];  // positions seen
  bool started[tile_queries];
  float maximum[tile_queries], sum[tile_queries];
  HWY_ALIGN float scores[tile_queries][simd_chunk];
  HWY_ALIGN float values[tile_queries][max_head_dim];  // gathered so far
  HWY_ALIGN float fresh[tile_queries][max_head_dim];   // of the chunk at hand
};

/// Raw scores of the 32 positions of a page: one chain of fma over d for each position and query.
template <plan::kv_type type, std::uint32_t queries>
HWY_NOINLINE void score_page(query_tile& tile, const std::byte* keys, std::uint32_t head_dim, std::uint32_t at) {
  constexpr std::size_t size = plan::bytes_of(type);
  for (std::uint32_t from = 0; from < page_vectors; from += wide) {
    vec_f t[queries][wide];
    for (std::uint32_t q = 0; q < queries; ++q)
      for (std::uint32_t i = 0; i < wide; ++i) t[q][i] = hn::Zero(df);
    const std::byte* column[wide];
    for (std::uint32_t i = 0; i < wide; ++i) {
      const std::uint32_t block = (from + i) / block_vectors, inside = (from + i) % block_vectors;
      column[i] = keys + (std::size_t{block} * head_dim * plan::key_block_positions + inside * lanes) * size;
    }
    for (std::uint32_t d = 0; d < head_dim; ++d) {
      const std::size_t offset = std::size_t{d} * plan::key_block_positions * size;
      const vec_f k0 = load_kv<type>(column[0] + offset), k1 = load_kv<type>(column[1] + offset);
      HWY_UNROLL(6)
      for (std::uint32_t q = 0; q < queries; ++q) {
        const vec_f x = hn::Set(df, tile.q[q][d]);
        t[q][0] = hn::MulAdd(x, k0, t[q][0]);
        t[q][1] = hn::MulAdd(x, k1, t[q][1]);
      }
    }
    for (std::uint32_t q = 0; q < queries; ++q)
      for (std::uint32_t i = 0; i < wide; ++i) hn::Store(t[q][i], df, tile.scores[q] + at + (from + i) * lanes);
  }
}

/// fresh += p·v for positions [from, to) of the chunk at `base`, ascending, for queries [first, first + queries).
template <plan::kv_type type, std::uint32_t queries>
HWY_NOINLINE void add_values(query_tile& tile, const attention_args& a, std::uint32_t kv_head, std::uint32_t first,
                             std::uint32_t base, std::uint32_t from, std::uint32_t to) {
  const plan::kv_layout& l = a.kv.layout;
  constexpr std::size_t size = plan::bytes_of(type);
  const std::size_t head = l.value_offset(a.kv.layer, kv_head);
  for (std::uint32_t d = 0; d < l.head_dim; d += wide * lanes) {
    const bool both = d + wide * lanes <= l.head_dim;
    vec_f o[queries][wide];
    for (std::uint32_t q = 0; q < queries; ++q) {
      o[q][0] = hn::Load(df, tile.fresh[first + q] + d);
      o[q][1] = both ? hn::Load(df, tile.fresh[first + q] + d + lanes) : hn::Zero(df);
    }
    for (std::uint32_t position = from; position < to;) {
      const std::uint32_t page_end = (position / plan::page_positions + 1) * plan::page_positions;
      const std::uint32_t end = page_end < to ? page_end : to;
      const std::byte* row = a.kv.pages[position / plan::page_positions] + head +
                             (std::size_t{position % plan::page_positions} * l.head_dim + d) * size;
      for (; position < end; ++position, row += l.head_dim * size) {
        const vec_f v0 = load_kv<type>(row), v1 = both ? load_kv<type>(row + lanes * size) : hn::Zero(df);
        HWY_UNROLL(6)
        for (std::uint32_t q = 0; q < queries; ++q) {
          const vec_f p = hn::Set(df, tile.scores[first + q][position - base]);
          o[q][0] = hn::MulAdd(p, v0, o[q][0]);
          o[q][1] = hn::MulAdd(p, v1, o[q][1]);
        }
      }
    }
    for (std::uint32_t q = 0; q < queries; ++q) {
      hn::Store(o[q][0], df, tile.fresh[first + q] + d);
      if (both) hn::Store(o[q][1], df, tile.fresh[first + q] + d + lanes);
    }
  }
}

HWY_INLINE void score_page(plan::kv_type type, query_tile& tile, const std::byte* keys, std::uint32_t head_dim,
                           std::uint32_t at) {
  with_count<tile_queries>(tile.count, [&](auto queries) HWY_ATTR {
    if (type == plan::kv_type::f32) return score_page<plan::kv_type::f32, queries()>(tile, keys, head_dim, at);
    if (type == plan::kv_type::f16) return score_page<plan::kv_type::f16, queries()>(tile, keys, head_dim, at);
    score_page<plan::kv_type::bf16, queries()>(tile, keys, head_dim, at);
  });
}

/// For queries [first, first + queries).
HWY_INLINE void add_values(query_tile& tile, const attention_args& a, std::uint32_t kv_head, std::uint32_t first,
                           std::uint32_t queries, std::uint32_t base, std::uint32_t from, std::uint32_t to) {
  const plan::kv_type type = a.kv.layout.values;
  with_count<tile_queries>(queries, [&](auto n) HWY_ATTR {
    if (type == plan::kv_type::f32) return add_values<plan::kv_type::f32, n()>(tile, a, kv_head, first, base, from, to);
    if (type == plan::kv_type::f16) return add_values<plan::kv_type::f16, n()>(tile, a, kv_head, first, base, from, to);
    add_values<plan::kv_type::bf16, n()>(tile, a, kv_head, first, base, from, to);
  });
}

/// Scores to probabilities of the positions [from, to) of the chunk; what is masked becomes +0. Returns maximum and
/// sum.
HWY_INLINE void soften(const attention_args& a, float* scores, std::uint32_t from, std::uint32_t to, float& maximum,
                       float& sum) {
  const std::uint32_t first = from / sum_lanes * sum_lanes, last = (to + sum_lanes - 1) / sum_lanes * sum_lanes;
  const vec_f none = hn::Set(df, -std::numeric_limits<float>::infinity());
  for (std::uint32_t i = first; i < from; ++i) scores[i] = -std::numeric_limits<float>::infinity();
  for (std::uint32_t i = to; i < last; ++i) scores[i] = -std::numeric_limits<float>::infinity();
  vec_f most = none;
  for (std::uint32_t i = first; i < last; i += lanes) {
    vec_f s = hn::Load(df, scores + i);
    s = hn::Mul(s, hn::Set(df, a.scale));
    if (a.softcap != 0.0f) {
      hn::Store(s, df, scores + i);
      for (std::uint32_t l = i; l < i + lanes; ++l) {
        if (l >= from && l < to) scores[l] = a.softcap * tanh_f32(scores[l] * (1.0f / a.softcap));
      }
      s = hn::Load(df, scores + i);
    }
    hn::Store(s, df, scores + i);
    most = hn::Max(most, s);
  }
  maximum = hn::GetLane(hn::MaxOfLanes(df, most));
  HWY_ALIGN float folded[sum_lanes];
  vec_f part[sum_lanes / lanes];
  for (auto& p : part) p = hn::Zero(df);
  for (std::uint32_t i = first; i < last; i += sum_lanes) {
    for (std::uint32_t j = 0; j < sum_lanes / lanes; ++j) {
      const vec_f p = exp_lanes(hn::Sub(hn::Load(df, scores + i + j * lanes), hn::Set(df, maximum)));
      hn::Store(p, df, scores + i + j * lanes);
      part[j] = hn::Add(part[j], p);
    }
  }
  for (std::uint32_t j = 0; j < sum_lanes / lanes; ++j) hn::Store(part[j], df, folded + j * lanes);
  sum = fold_lanes(folded);
}

/// Takes the chunk at hand into what a query has gathered.
HWY_INLINE void merge_query(query_tile& tile, std::uint32_t q, float chunk_maximum, float chunk_sum,
                            std::uint32_t head_dim) {
  if (!tile.started[q]) {
    tile.started[q] = true;
    tile.maximum[q] = chunk_maximum;
    tile.sum[q] = chunk_sum;
    std::memcpy(tile.values[q], tile.fresh[q], head_dim * sizeof(float));
    return;
  }
  const float maximum = chunk_maximum > tile.maximum[q] ? chunk_maximum : tile.maximum[q];
  const float before = exp_f32(tile.maximum[q] - maximum);
  const float now = exp_f32(chunk_maximum - maximum);
  tile.sum[q] = std::fma(tile.sum[q], before, chunk_sum * now);
  for (std::uint32_t d = 0; d < head_dim; d += lanes) {
    const vec_f fresh = hn::Mul(hn::Load(df, tile.fresh[q] + d), hn::Set(df, now));
    hn::Store(hn::MulAdd(hn::Load(df, tile.values[q] + d), hn::Set(df, before), fresh), df, tile.values[q] + d);
  }
  tile.maximum[q] = maximum;
}

/// One chunk of positions for all queries of the tile.
inline void attend_tile_chunk(query_tile& tile, const attention_args& a, std::uint32_t kv_head, std::uint32_t base) {
  const plan::kv_layout& l = a.kv.layout;
  std::uint32_t from[tile_queries], to[tile_queries];
  std::uint32_t lowest = base + simd_chunk, highest = base;  // seen by any
  std::uint32_t common_from = base, common_to = base + simd_chunk;
  for (std::uint32_t q = 0; q < tile.count; ++q) {
    from[q] = tile.begin[q] > base ? tile.begin[q] : base;
    to[q] = tile.end[q] < base + simd_chunk ? tile.end[q] : base + simd_chunk;
    if (from[q] < to[q]) {
      lowest = from[q] < lowest ? from[q] : lowest;
      highest = to[q] > highest ? to[q] : highest;
    }
    common_from = from[q] > common_from ? from[q] : common_from;
    common_to = to[q] < common_to ? to[q] : common_to;
  }
  for (std::uint32_t p = lowest / plan::page_positions; p * plan::page_positions < highest; ++p) {
    const std::byte* page = a.kv.pages[p] + l.key_offset(a.kv.layer, kv_head);
    score_page(l.keys, tile, page, l.head_dim, p * plan::page_positions - base);
  }
  float maximum[tile_queries], sum[tile_queries];
  for (std::uint32_t q = 0; q < tile.count; ++q) {
    if (from[q] >= to[q]) continue;
    soften(a, tile.scores[q], from[q] - base, to[q] - base, maximum[q], sum[q]);
    std::memset(tile.fresh[q], 0, l.head_dim * sizeof(float));
  }
  const bool common = common_from < common_to;
  for (std::uint32_t q = 0; q < tile.count; ++q) {
    const std::uint32_t until = common ? common_from : to[q];
    if (from[q] < until) add_values(tile, a, kv_head, q, 1, base, from[q], until);
  }
  if (common) {
    add_values(tile, a, kv_head, 0, tile.count, base, common_from, common_to);
    for (std::uint32_t q = 0; q < tile.count; ++q)
      if (common_to < to[q]) add_values(tile, a, kv_head, q, 1, base, common_to, to[q]);
  }
  for (std::uint32_t q = 0; q < tile.count; ++q)
    if (from[q] < to[q]) merge_query(tile, q, maximum[q], sum[q], l.head_dim);
}

inline void attend_tile(query_tile& tile, const attention_args& a, std::uint32_t kv_head) {
  const std::uint32_t head_dim = a.kv.layout.head_dim;
  std::uint32_t lowest = tile.begin[0], highest = 0;
  for (std::uint32_t q = 0; q < tile.count; ++q) {
    tile.started[q] = false;
    lowest = tile.begin[q] < lowest ? tile.begin[q] : lowest;
    highest = tile.end[q] > highest ? tile.end[q] : highest;
  }
  for (std::uint32_t base = lowest / simd_chunk * simd_chunk; base < highest; base += simd_chunk)
    attend_tile_chunk(tile, a, kv_head, base);
  for (std::uint32_t q = 0; q < tile.count; ++q) {
    const vec_f r = hn::Set(df, 1.0f / tile.sum[q]);
    for (std::uint32_t d = 0; d < head_dim; d += lanes)
      hn::StoreU(hn::Mul(hn::Load(df, tile.values[q] + d), r), df, tile.out[q] + d);
  }
}

inline void attention(const attention_args& a) {
  // Heads that are no whole vectors wide are rare enough for the plain body.
  if (a.kv.layout.head_dim % lanes != 0) return plain::attention(a);
  const std::uint32_t head_dim = a.kv.layout.head_dim;
  const std::uint32_t per_kv_head = a.heads / a.kv.layout.kv_heads;
  query_tile tile;
  const auto flush = [&](std::uint32_t kv_head) HWY_ATTR {
    if (tile.count != 0) attend_tile(tile, a, kv_head);
    tile.count = 0;
  };
  for (std::uint32_t begin = a.head_begin; begin < a.head_end;) {
    const std::uint32_t kv_head = begin / per_kv_head;
    const std::uint32_t group_end = (kv_head + 1) * per_kv_head;
    const std::uint32_t end = group_end < a.head_end ? group_end : a.head_end;
    for (std::uint32_t t = 0; t < a.tokens; ++t) {
      for (std::uint32_t head = begin; head < end; ++head) {
        const std::size_t at = (std::size_t{t} * a.heads + head) * head_dim;
        const std::uint32_t q = tile.count++;
        tile.q[q] = a.q + at;
        tile.out[q] = a.out + at;
        tile.end[q] = a.first_position + t + 1;
        tile.begin[q] = a.window != 0 && tile.end[q] > a.window ? tile.end[q] - a.window : 0;
        if (tile.count == tile_queries) flush(kv_head);
      }
    }
    flush(kv_head);
    begin = end;
  }
}
