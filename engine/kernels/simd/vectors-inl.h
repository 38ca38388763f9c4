// The vectors that all SIMD bodies are written in: a row vector holds neighbouring rows of a panel, one per 32-bit
// lane. Included once per target inside its namespace.

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
inline constexpr std::uint32_t lanes = 16;
#else
inline constexpr std::uint32_t lanes = 8;
#endif
/// Row vectors in a panel.
inline constexpr std::uint32_t halves = quant::panel_rows / lanes;
/// Row vectors walked side by side: with AVX-512 two panels, with AVX2 the two halves of one.
inline constexpr std::uint32_t wide = 2;
inline constexpr std::uint32_t block_rows = wide * lanes;
/// Tokens of a tile of many.
inline constexpr std::uint32_t tile_tokens = lanes == 16 ? 6 : 3;
/// Tokens that go through the weights in one pass without unpacking them first.
inline constexpr std::uint32_t narrow_tokens = 4;

using tag_f = hn::FixedTag<float, lanes>;
using tag_i = hn::FixedTag<std::int32_t, lanes>;
using tag_u = hn::FixedTag<std::uint32_t, lanes>;
using tag_b = hn::FixedTag<std::uint8_t, 4 * lanes>;
using tag_s = hn::FixedTag<std::int16_t, 2 * lanes>;
using vec_f = hn::Vec<tag_f>;
using vec_i = hn::Vec<tag_i>;
using vec_b = hn::Vec<tag_b>;
inline constexpr tag_f df;
inline constexpr tag_i di;
inline constexpr tag_u du;
inline constexpr tag_b db;
inline constexpr tag_s ds;

HWY_INLINE vec_b load_bytes(const std::byte* at) {
  return hn::LoadU(db, reinterpret_cast<const std::uint8_t*>(at));
}

/// Four neighbouring codes of an activation in every lane.
HWY_INLINE vec_b four_codes(const std::int8_t* at) {
  std::int32_t four;
  std::memcpy(&four, at, sizeof four);
  return hn::BitCast(db, hn::Set(di, four));
}

/// f16 scales of neighbouring rows.
HWY_INLINE vec_f load_scales(const std::byte* at) {
  const hn::Rebind<hwy::float16_t, tag_f> half;
  return hn::PromoteTo(df, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(at)));
}

/// acc + Σ w·a over the four bytes of each lane; w unsigned, a signed. `small`: w ≤ 127, so that pairs fit 16 bits.
template <bool small>
HWY_INLINE vec_i dot4(vec_i acc, vec_b w, vec_b a) {
#if HWY_TARGET == HWY_AVX3_DL
#if defined(__clang__)
  __asm__("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(w.raw), "v"(a.raw));
  return acc;
#else
  return vec_i{_mm512_dpbusd_epi32(acc.raw, w.raw, a.raw)};
#endif
#else
  if constexpr (small) {
#if HWY_TARGET <= HWY_AVX3
    return vec_i{
        _mm512_add_epi32(acc.raw, _mm512_madd_epi16(_mm512_maddubs_epi16(w.raw, a.raw), _mm512_set1_epi16(1)))};
#else
    return vec_i{
        _mm256_add_epi32(acc.raw, _mm256_madd_epi16(_mm256_maddubs_epi16(w.raw, a.raw), _mm256_set1_epi16(1)))};
#endif
  } else {
    // Even and odd bytes apart: one product of 255·127 fits 16 bits, two need not.
    const vec_b even = hn::BitCast(db, hn::Set(ds, std::int16_t{0x00ff}));
    return dot4<true>(dot4<true>(acc, hn::And(w, even), a), hn::AndNot(even, w), a);
  }
#endif
}

/// acc + Σ a·b over the two 16-bit halves of each lane.
HWY_INLINE vec_i dot2(vec_i acc, vec_i a, vec_i b) {
#if HWY_TARGET == HWY_AVX3_DL
#if defined(__clang__)
  __asm__("vpdpwssd %2, %1, %0" : "+v"(acc.raw) : "v"(a.raw), "v"(b.raw));
  return acc;
#else
  return vec_i{_mm512_dpwssd_epi32(acc.raw, a.raw, b.raw)};
#endif
#elif HWY_TARGET <= HWY_AVX3
  return vec_i{_mm512_add_epi32(acc.raw, _mm512_madd_epi16(a.raw, b.raw))};
#else
  return vec_i{_mm256_add_epi32(acc.raw, _mm256_madd_epi16(a.raw, b.raw))};
#endif
}

HWY_INLINE vec_b low_nibbles(vec_b w) {
  return hn::And(w, hn::Set(db, 15));
}
HWY_INLINE vec_b high_nibbles(vec_b w) {
  return hn::And(hn::BitCast(db, hn::ShiftRight<4>(hn::BitCast(du, w))), hn::Set(db, 15));
}

/// Where the panels of a block of rows begin: row vector i lies in panel i / halves, `lane_bytes` bytes on per half.
struct block_panels {
  const std::byte* panel[wide / halves];
  std::size_t stride;  // bytes of a panel

  HWY_INLINE const std::byte* at(std::uint32_t i, std::size_t offset, std::size_t lane_bytes) const {
    return panel[i / halves] + offset + i % halves * (lanes * lane_bytes);
  }

  /// Asks the second cache for what n row vectors read soon after `record`. Behind its end each panel goes on with the
  /// one that it will be after all that are walked side by side.
  template <std::uint32_t n>
  HWY_INLINE void fetch(std::size_t record, std::uint32_t bytes) const {
    constexpr std::uint32_t panels = n / halves;
    std::size_t at = record + current_tuning.prefetch_bytes;
    if (at >= stride) at += (panels - 1) * stride;
    for (std::uint32_t p = 0; p < panels; ++p)
      for (std::uint32_t l = 0; l < bytes; l += 64) __builtin_prefetch(panel[p] + at + l, 0, 2);
  }
};

/// Calls f with std::integral_constant 1, 2, …, `most` for n.
template <std::uint32_t most, class F>
HWY_INLINE void with_count(std::uint32_t n, const F& f) {
  if constexpr (most > 1) {
    if (n < most) return with_count<most - 1>(n, f);
  }
  f(std::integral_constant<std::uint32_t, most>{});
}
