// Reading packed g256 weights: codes, integer scales and minima of a record. Included once per target inside its
// namespace.

/// How a record of 256 columns of a g256 type is read. `zero`: what was added to the codes; `small`: codes ≤ 127 as
/// they are stored; `minimum_runs`: how many minima there are, 0: none.
template <tensor_type type>
struct g256_format;
template <>
struct g256_format<tensor_type::q4_k> {
  static constexpr std::uint32_t bytes = 2368, d = 2304, dmin = 2336, minimum_runs = 8;
  static constexpr int zero = 0;
  static constexpr bool small = true;
};
template <>
struct g256_format<tensor_type::q6_k> {
  static constexpr std::uint32_t bytes = 3392, d = 3328, dmin = 0, minimum_runs = 0;
  static constexpr int zero = 32;
  static constexpr bool small = true;
};
/// Also q2_k's: a byte for each code, with minima.
template <>
struct g256_format<tensor_type::q5_k> {
  static constexpr std::uint32_t bytes = 4672, d = 4608, dmin = 4640, minimum_runs = 16;
  static constexpr int zero = 0;
  static constexpr bool small = true;
};
/// Also q3_k's: a byte for each code.
template <>
struct g256_format<tensor_type::iq4_xs> {
  static constexpr std::uint32_t bytes = 4672, d = 4608, dmin = 0, minimum_runs = 0;
  static constexpr int zero = 128;
  static constexpr bool small = false;
};
template <tensor_type type>
inline constexpr bool is_byte_record = g256_format<type>::bytes == 4672;
/// Lanes of 16-bit pairs that the minima fill; one where there are none, so that arrays have a length.
template <tensor_type type>
inline constexpr std::uint32_t minimum_pairs =
    g256_format<type>::minimum_runs == 0 ? 1 : g256_format<type>::minimum_runs / 2;

/// 256 columns of a block of rows, unpacked: code bytes per run of 16, its integer scale, the two f32 scales, and the
/// minima of neighbouring runs as pairs of 16 bits.
struct g256_unpacked {
  HWY_ALIGN std::uint8_t codes[quant::g256_subs][4][wide][4 * lanes];
  HWY_ALIGN std::int32_t sc[quant::g256_subs][wide][lanes];
  HWY_ALIGN std::int32_t mn[8][wide][lanes];
  HWY_ALIGN float d[wide][lanes];
  HWY_ALIGN float dmin[wide][lanes];
};

/// Pairs of bytes per row to pairs of 16 bits in each lane.
HWY_INLINE vec_i load_pairs(const std::byte* at) {
  const hn::Rebind<std::uint8_t, tag_s> bytes;
  return hn::BitCast(di, hn::PromoteTo(ds, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(at))));
}

/// Starting value of a run of 16: what was added to its codes taken off.
template <tensor_type type>
HWY_INLINE vec_i g256_start(const quantized_rows& x, std::size_t group, std::uint32_t sub) {
  constexpr int zero = g256_format<type>::zero;
  if constexpr (zero != 0)
    return hn::Set(di, -zero * std::int32_t{x.sums[group * quant::g256_subs + sub]});
  else
    return hn::Zero(di);
}

/// The codes of 32 columns of row vector i: f(step, codes), step s holds columns 4s to 4s + 3.
template <tensor_type type, class F>
HWY_INLINE void for_codes_k(const block_panels& w, std::uint32_t i, std::size_t record, std::uint32_t sub, const F& f) {
  if constexpr (is_byte_record<type>) {
    const auto one = [&](auto step) HWY_ATTR { f(step, load_bytes(w.at(i, record + sub * 512 + step * 64, 4))); };
    one(std::integral_constant<int, 0>{});
    one(std::integral_constant<int, 1>{});
    one(std::integral_constant<int, 2>{});
    one(std::integral_constant<int, 3>{});
    one(std::integral_constant<int, 4>{});
    one(std::integral_constant<int, 5>{});
    one(std::integral_constant<int, 6>{});
    one(std::integral_constant<int, 7>{});
    return;
  }
  constexpr std::uint32_t bytes = type == tensor_type::q4_k ? 256 : 384;
  [[maybe_unused]] vec_i first = hn::Zero(di), second = hn::Zero(di);
  if constexpr (type == tensor_type::q6_k) {
    first = hn::BitCast(di, load_bytes(w.at(i, record + sub * bytes + 256, 4)));
    second = hn::BitCast(di, load_bytes(w.at(i, record + sub * bytes + 320, 4)));
  }
  const auto one = [&](auto v) HWY_ATTR {
    const vec_b both = load_bytes(w.at(i, record + sub * bytes + v * 64, 4));
    vec_b low = low_nibbles(both), high = high_nibbles(both);
    if constexpr (type == tensor_type::q6_k) {
      const auto pair = [&](vec_i h) HWY_ATTR {
        const vec_i bits = hn::Set(di, 0x30303030);
        if constexpr (v <= 2) {
          return hn::BitCast(db, hn::And(hn::ShiftLeft<4 - 2 * v>(h), bits));
        } else {
          return hn::BitCast(db, hn::And(hn::BitCast(di, hn::ShiftRight<2>(hn::BitCast(du, h))), bits));
        }
      };
      low = hn::Or(low, pair(first));
      high = hn::Or(high, pair(second));
    }
    f(v, low);
    f(v + 4, high);
  };
  one(std::integral_constant<int, 0>{});
  one(std::integral_constant<int, 1>{});
  one(std::integral_constant<int, 2>{});
  one(std::integral_constant<int, 3>{});
}

/// Integer scales of the two runs of 16 of `sub`, as lanes.
template <tensor_type type>
HWY_INLINE void load_sub_scales(const block_panels& w, std::uint32_t i, std::size_t record, std::uint32_t sub,
                                vec_i (&sc)[2]) {
  if constexpr (type == tensor_type::q4_k) {
    const vec_i pair = load_pairs(w.at(i, record + 2048 + sub / 2 * 32, 2));
    sc[0] = sc[1] = sub % 2 == 0 ? hn::And(pair, hn::Set(di, 0xffff)) : hn::ShiftRight<16>(pair);
  } else {
    const hn::Rebind<std::int8_t, tag_i> bytes;
    constexpr std::uint32_t first = is_byte_record<type> ? 4096 : 3072;
    for (std::uint32_t run = 0; run < 2; ++run) {
      const std::byte* at = w.at(i, record + first + (2 * sub + run) * 16, 1);
      sc[run] = hn::PromoteTo(di, hn::LoadU(bytes, reinterpret_cast<const std::int8_t*>(at)));
    }
  }
}

/// The minima of neighbouring runs as pairs of 16 bits.
template <tensor_type type>
HWY_INLINE void load_minima(const block_panels& w, std::uint32_t i, std::size_t record,
                            vec_i (&mn)[minimum_pairs<type>]) {
  if constexpr (is_byte_record<type>) {
    const hn::Rebind<std::uint8_t, tag_i> bytes;
    const auto run = [&](std::uint32_t r) HWY_ATTR {
      const std::byte* at = w.at(i, record + 4352 + r * 16, 1);
      return hn::PromoteTo(di, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(at)));
    };
    for (std::uint32_t pair = 0; pair < minimum_pairs<type>; ++pair)
      mn[pair] = hn::Or(run(2 * pair), hn::ShiftLeft<16>(run(2 * pair + 1)));
  } else {
    for (std::uint32_t pair = 0; pair < minimum_pairs<type>; ++pair)
      mn[pair] = load_pairs(w.at(i, record + 2176 + pair * 32, 2));
  }
}

template <tensor_type type>
HWY_INLINE void g256_unpack(const block_panels& w, std::size_t record, g256_unpacked& out) {
  using format = g256_format<type>;
  for (std::uint32_t i = 0; i < wide; ++i) {
    for (std::uint32_t sub = 0; sub < 8; ++sub) {
      for_codes_k<type>(w, i, record, sub, [&](auto step, vec_b codes) HWY_ATTR {
        hn::Store(codes, db, out.codes[2 * sub + step / 4][step % 4][i]);
      });
      vec_i sc[2];
      load_sub_scales<type>(w, i, record, sub, sc);
      hn::Store(sc[0], di, out.sc[2 * sub][i]);
      hn::Store(sc[1], di, out.sc[2 * sub + 1][i]);
    }
    hn::Store(load_scales(w.at(i, record + format::d, 2)), df, out.d[i]);
    if constexpr (format::minimum_runs != 0) {
      vec_i mn[minimum_pairs<type>];
      load_minima<type>(w, i, record, mn);
      for (std::uint32_t pair = 0; pair < minimum_pairs<type>; ++pair) hn::Store(mn[pair], di, out.mn[pair][i]);
      hn::Store(load_scales(w.at(i, record + format::dmin, 2)), df, out.dmin[i]);
    }
  }
}
