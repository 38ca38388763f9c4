// The activation quantizer. Included once per target inside its namespace.

/// Codes of `count` elements, a multiple of 32: q = rne(x·127/amax), 0 where amax < 2⁻¹⁰⁰. Returns the scale; `sums`
/// takes the sum of each run of 16 codes.
HWY_INLINE float quantize_run(const float* x, std::uint32_t count, std::int8_t* codes, std::int32_t* sums) {
  // Magnitudes compare as their bits do, infinity and NaN above all others.
  vec_i most = hn::Zero(di);
  for (std::uint32_t i = 0; i < count; i += lanes)
    most = hn::Max(most, hn::And(hn::BitCast(di, hn::LoadU(df, x + i)), hn::Set(di, 0x7fffffff)));
  const std::int32_t bits = hn::GetLane(hn::MaxOfLanes(di, most));
  const float amax = std::bit_cast<float>(bits);
  const bool finite = bits < 0x7f800000;
  if (!finite || amax < 0x1p-100f) {
    std::memset(codes, 0, count);
    for (std::uint32_t i = 0; i < count / 16; ++i) sums[i] = 0;
    return finite ? 0.0f : std::numeric_limits<float>::quiet_NaN();
  }
  const vec_f r = hn::Set(df, 127.0f / amax);
  const hn::Rebind<std::int8_t, tag_i> bytes;
  for (std::uint32_t i = 0; i < count; i += 16) {
    vec_i sum = hn::Zero(di);
    for (std::uint32_t j = i; j < i + 16; j += lanes) {
      const vec_i q = hn::NearestInt(hn::Mul(hn::LoadU(df, x + j), r));
      sum = hn::Add(sum, q);
      hn::StoreU(hn::DemoteTo(bytes, q), bytes, codes + j);
    }
    sums[i / 16] = hn::GetLane(hn::SumOfLanes(di, sum));
  }
  return amax / 127.0f;
}

inline void quantize_g32(const float* x, std::uint32_t tokens, std::uint32_t width, const quantized_rows& out) {
  for (std::uint32_t t = 0; t < tokens; ++t) {
    for (std::uint32_t group = 0; group < out.groups; ++group) {
      const std::size_t at = std::size_t{t} * out.groups + group;
      std::int32_t sums[2];
      const float da = quantize_run(x + std::size_t{t} * width + group * quant::g32_elements, quant::g32_elements,
                                    out.codes + at * quant::g32_elements, sums);
      out.scales[at] = da;
      out.negative_sums[at] = -(sums[0] + sums[1]);
      out.sums_scaled[at] = da * static_cast<float>(sums[0] + sums[1]);
    }
  }
}

inline void quantize_g256(const float* x, std::uint32_t tokens, std::uint32_t width, const quantized_rows& out) {
  for (std::uint32_t t = 0; t < tokens; ++t) {
    for (std::uint32_t group = 0; group < out.groups; ++group) {
      const std::size_t at = std::size_t{t} * out.groups + group;
      std::int32_t sums[quant::g256_subs];
      out.scales[at] = quantize_run(x + std::size_t{t} * width + group * quant::g256_elements, quant::g256_elements,
                                    out.codes + at * quant::g256_elements, sums);
      for (std::uint32_t sub = 0; sub < quant::g256_subs; ++sub)
        out.sums[at * quant::g256_subs + sub] = static_cast<std::int16_t>(sums[sub]);
      for (std::uint32_t sub = 0; sub < quant::g256_subs / 2; ++sub)
        out.sums32[at * (quant::g256_subs / 2) + sub] = static_cast<std::int16_t>(sums[2 * sub] + sums[2 * sub + 1]);
    }
  }
}
