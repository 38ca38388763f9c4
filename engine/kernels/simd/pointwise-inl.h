// The elementary functions lane by lane, with the operations of engine/core/elementary.h in the same order, and what is
// made of them. Included once per target inside its namespace.

HWY_INLINE vec_f round_lanes(vec_f v) {
  const vec_f magic = hn::Set(df, 12582912.0f);
  return hn::Sub(hn::Add(v, magic), magic);
}

/// 2ⁿ for integral n.
HWY_INLINE vec_f power_lanes(vec_f n) {
  return hn::BitCast(df, hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127))));
}

HWY_INLINE vec_f exp_lanes(vec_f x) {
  const vec_f clamped = hn::Max(hn::Min(x, hn::Set(df, 88.73f)), hn::Set(df, -87.4f));
  const vec_f n = round_lanes(hn::Mul(clamped, hn::Set(df, 1.44269504088896341f)));
  vec_f r = hn::MulAdd(n, hn::Set(df, -0.693145751953125f), clamped);
  r = hn::MulAdd(n, hn::Set(df, -1.428606765330187e-6f), r);
  vec_f p = hn::Set(df, 1.9875691500e-4f);
  p = hn::MulAdd(p, r, hn::Set(df, 1.3981999507e-3f));
  p = hn::MulAdd(p, r, hn::Set(df, 8.3334519073e-3f));
  p = hn::MulAdd(p, r, hn::Set(df, 4.1665795894e-2f));
  p = hn::MulAdd(p, r, hn::Set(df, 1.6666665459e-1f));
  p = hn::MulAdd(p, r, hn::Set(df, 5.0000001201e-1f));
  p = hn::MulAdd(hn::Mul(p, r), r, r);
  p = hn::Add(p, hn::Set(df, 1.0f));
  const vec_f half = round_lanes(hn::Mul(n, hn::Set(df, 0.5f)));
  const vec_f value = hn::Mul(hn::Mul(p, power_lanes(half)), power_lanes(hn::Sub(n, half)));
  // A number that is none stays none; the clamp above has replaced it.
  const vec_f kept = hn::IfThenElse(hn::IsNaN(x), x, value);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(df, -87.3f)), kept);
}

HWY_INLINE vec_f silu_lanes(vec_f x) {
  const vec_f one = hn::Set(df, 1.0f);
  return hn::Mul(x, hn::Div(one, hn::Add(one, exp_lanes(hn::Neg(x)))));
}

HWY_INLINE vec_f tanh_lanes(vec_f x) {
  const vec_f a = hn::Abs(x), one = hn::Set(df, 1.0f);
  const vec_f z = hn::Mul(x, x);
  vec_f p = hn::Set(df, -5.70498872745e-3f);
  p = hn::MulAdd(p, z, hn::Set(df, 2.06390887954e-2f));
  p = hn::MulAdd(p, z, hn::Set(df, -5.37397155531e-2f));
  p = hn::MulAdd(p, z, hn::Set(df, 1.33314422036e-1f));
  p = hn::MulAdd(p, z, hn::Set(df, -3.33332819422e-1f));
  const vec_f small = hn::MulAdd(hn::Mul(p, z), x, x);
  const vec_f capped = hn::IfThenElse(hn::Gt(a, hn::Set(df, 20.0f)), hn::Set(df, 20.0f), a);
  const vec_f e = exp_lanes(hn::Mul(hn::Set(df, 2.0f), capped));
  const vec_f large = hn::CopySign(hn::Sub(one, hn::Div(hn::Set(df, 2.0f), hn::Add(e, one))), x);
  return hn::IfThenElse(hn::Lt(a, hn::Set(df, 0.625f)), small, large);
}

HWY_INLINE vec_f gelu_lanes(vec_f x) {
  const vec_f cube = hn::Mul(hn::Mul(x, x), x);
  const vec_f inner = hn::Mul(hn::Set(df, 0.797884560802865356f), hn::Add(x, hn::Mul(hn::Set(df, 0.044715f), cube)));
  return hn::Mul(hn::Mul(hn::Set(df, 0.5f), x), hn::Add(hn::Set(df, 1.0f), tanh_lanes(inner)));
}

HWY_INLINE vec_f gelu_erf_lanes(vec_f x) {
  const vec_f a = hn::Abs(x), half = hn::Set(df, 0.5f);
  vec_f p = hn::Set(df, -1.5052605e-7f);
  p = hn::MulAdd(p, a, hn::Set(df, 3.4968231e-6f));
  p = hn::MulAdd(p, a, hn::Set(df, -3.2427447e-5f));
  p = hn::MulAdd(p, a, hn::Set(df, 1.3241043e-4f));
  p = hn::MulAdd(p, a, hn::Set(df, 1.1265942e-4f));
  p = hn::MulAdd(p, a, hn::Set(df, -4.9404178e-3f));
  p = hn::MulAdd(p, a, hn::Set(df, 3.6429205e-2f));
  p = hn::MulAdd(p, a, hn::Set(df, 3.1828201e-1f));
  p = hn::MulAdd(p, a, hn::Set(df, 7.9788766e-1f));
  const vec_f tail = hn::IfThenElseZero(hn::Lt(a, hn::Set(df, 6.2f)), hn::Mul(half, exp_lanes(hn::Neg(hn::Mul(a, p)))));
  const vec_f share = hn::IfThenElse(hn::Lt(x, hn::Zero(df)), tail, hn::Sub(hn::Set(df, 1.0f), tail));
  return hn::Mul(x, share);
}

/// out = f(gate)·up; what does not fill a vector is left to the plain body.
template <class F, class Plain>
HWY_INLINE void gate_lanes(const float* gate, const float* up, std::size_t count, float* out, const F& f,
                           const Plain& plain_rest) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Mul(f(hn::LoadU(df, gate + i)), hn::LoadU(df, up + i)), df, out + i);
  plain_rest(gate + i, up + i, count - i, out + i);
}

inline void silu_gate(const float* gate, const float* up, std::size_t count, float* out) {
  gate_lanes(gate, up, count, out, [](vec_f x) HWY_ATTR { return silu_lanes(x); }, plain::silu_gate);
}

inline void gelu_gate(const float* gate, const float* up, std::size_t count, float* out) {
  gate_lanes(gate, up, count, out, [](vec_f x) HWY_ATTR { return gelu_lanes(x); }, plain::gelu_gate);
}

inline void gelu_erf_gate(const float* gate, const float* up, std::size_t count, float* out) {
  gate_lanes(gate, up, count, out, [](vec_f x) HWY_ATTR { return gelu_erf_lanes(x); }, plain::gelu_erf_gate);
}

/// out = f(x); what does not fill a vector is left to the plain body.
template <class F, class Plain>
HWY_INLINE void activate_lanes(const float* x, std::size_t count, float* out, const F& f, const Plain& plain_rest) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(df, x + i)), df, out + i);
  plain_rest(x + i, count - i, out + i);
}

inline void silu(const float* x, std::size_t count, float* out) {
  activate_lanes(x, count, out, [](vec_f v) HWY_ATTR { return silu_lanes(v); }, plain::silu);
}

inline void gelu(const float* x, std::size_t count, float* out) {
  activate_lanes(x, count, out, [](vec_f v) HWY_ATTR { return gelu_lanes(v); }, plain::gelu);
}

inline void gelu_erf(const float* x, std::size_t count, float* out) {
  activate_lanes(x, count, out, [](vec_f v) HWY_ATTR { return gelu_erf_lanes(v); }, plain::gelu_erf);
}

inline void softcap(float* x, std::size_t count, float cap) {
  const vec_f inverse = hn::Set(df, 1.0f / cap);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Mul(hn::Set(df, cap), tanh_lanes(hn::Mul(hn::LoadU(df, x + i), inverse))), df, x + i);
  plain::softcap(x + i, count - i, cap);
}

/// Σ of what `vector_step` and `step` accumulate of x, in blocks of 512 and 16 lanes by index.
template <class VectorStep, class Step>
HWY_INLINE float blocked_sum(const float* x, std::uint32_t count, const VectorStep& vector_step, const Step& step) {
  float total = 0.0f;
  for (std::uint32_t from = 0; from < count; from += plain::sum_block) {
    const std::uint32_t end = from + plain::sum_block < count ? from + plain::sum_block : count;
    HWY_ALIGN float folded[sum_lanes];
    vec_f part[sum_lanes / lanes];
    for (auto& p : part) p = hn::Zero(df);
    std::uint32_t i = from;
    for (; i + sum_lanes <= end; i += sum_lanes) {
      for (std::uint32_t j = 0; j < sum_lanes / lanes; ++j)
        part[j] = vector_step(hn::LoadU(df, x + i + j * lanes), part[j]);
    }
    for (std::uint32_t j = 0; j < sum_lanes / lanes; ++j) hn::Store(part[j], df, folded + j * lanes);
    for (std::uint32_t lane = 0; i + lane < end; ++lane) folded[lane] = step(x[i + lane], folded[lane]);
    total = total + fold_lanes(folded);
  }
  return total;
}

HWY_INLINE float square_sum(const float* x, std::uint32_t count) {
  return blocked_sum(
      x, count, [](vec_f v, vec_f sum) HWY_ATTR { return hn::MulAdd(v, v, sum); },
      [](float v, float sum) { return std::fma(v, v, sum); });
}

HWY_INLINE float plain_sum(const float* x, std::uint32_t count) {
  return blocked_sum(
      x, count, [](vec_f v, vec_f sum) HWY_ATTR { return hn::Add(sum, v); },
      [](float v, float sum) { return sum + v; });
}

inline void rms_norm(const float* x, const float* w, float eps, std::uint32_t tokens, std::uint32_t width, float* y) {
  for (std::uint32_t t = 0; t < tokens; ++t, x += width, y += width) {
    const float r = 1.0f / std::sqrt(square_sum(x, width) / static_cast<float>(width) + eps);
    std::uint32_t i = 0;
    for (; i + lanes <= width; i += lanes)
      hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(df, x + i), hn::Set(df, r)), hn::LoadU(df, w + i)), df, y + i);
    for (; i < width; ++i) y[i] = (x[i] * r) * w[i];
  }
}

inline void layer_norm(const float* x, const float* w, const float* b, float eps, std::uint32_t tokens,
                       std::uint32_t width, float* y) {
  for (std::uint32_t t = 0; t < tokens; ++t, x += width, y += width) {
    const float mean = plain_sum(x, width) / static_cast<float>(width);
    std::uint32_t i = 0;
    for (; i + lanes <= width; i += lanes) hn::StoreU(hn::Sub(hn::LoadU(df, x + i), hn::Set(df, mean)), df, y + i);
    for (; i < width; ++i) y[i] = x[i] - mean;
    const float r = 1.0f / std::sqrt(square_sum(y, width) / static_cast<float>(width) + eps);
    for (i = 0; i + lanes <= width; i += lanes) {
      vec_f v = hn::Mul(hn::Mul(hn::LoadU(df, y + i), hn::Set(df, r)), hn::LoadU(df, w + i));
      if (b != nullptr) v = hn::Add(v, hn::LoadU(df, b + i));
      hn::StoreU(v, df, y + i);
    }
    for (; i < width; ++i) {
      y[i] = (y[i] * r) * w[i];
      if (b != nullptr) y[i] = y[i] + b[i];
    }
  }
}
