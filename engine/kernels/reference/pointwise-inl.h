// Norms, rotary positions and gates by the numeric contract. Included inside the namespace of each body.

// Folds 16 lanes: +8, +4, +2, +1.
inline float fold_lanes(float* lanes) {
  for (std::uint32_t step = 8; step > 0; step /= 2) {
    for (std::uint32_t lane = 0; lane < step; ++lane) lanes[lane] = lanes[lane] + lanes[lane + step];
  }
  return lanes[0];
}

inline constexpr std::uint32_t sum_block = 512;
inline constexpr std::uint32_t sum_lanes = 16;

// Σ x², blocks of 512, 16 lanes by index.
inline float sum_of_squares(const float* x, std::uint32_t count) {
  float total = 0.0f;
  for (std::uint32_t from = 0; from < count; from += sum_block) {
    const std::uint32_t end = from + sum_block < count ? from + sum_block : count;
    float lanes[sum_lanes] = {};
    std::uint32_t i = from;
    for (; i + sum_lanes <= end; i += sum_lanes) {
      for (std::uint32_t lane = 0; lane < sum_lanes; ++lane)
        lanes[lane] = std::fma(x[i + lane], x[i + lane], lanes[lane]);
    }
    for (std::uint32_t lane = 0; i + lane < end; ++lane) lanes[lane] = std::fma(x[i + lane], x[i + lane], lanes[lane]);
    total = total + fold_lanes(lanes);
  }
  return total;
}

inline void rms_norm(const float* x, const float* w, float eps, std::uint32_t tokens, std::uint32_t width, float* y) {
  for (std::uint32_t t = 0; t < tokens; ++t, x += width, y += width) {
    const float r = 1.0f / std::sqrt(sum_of_squares(x, width) / static_cast<float>(width) + eps);
    for (std::uint32_t i = 0; i < width; ++i) y[i] = (x[i] * r) * w[i];
  }
}

// Σ x, blocks of 512, 16 lanes by index.
inline float sum_of(const float* x, std::uint32_t count) {
  float total = 0.0f;
  for (std::uint32_t from = 0; from < count; from += sum_block) {
    const std::uint32_t end = from + sum_block < count ? from + sum_block : count;
    float lanes[sum_lanes] = {};
    for (std::uint32_t i = from; i < end; ++i) lanes[(i - from) % sum_lanes] += x[i];
    total = total + fold_lanes(lanes);
  }
  return total;
}

inline void layer_norm(const float* x, const float* w, const float* b, float eps, std::uint32_t tokens,
                       std::uint32_t width, float* y) {
  for (std::uint32_t t = 0; t < tokens; ++t, x += width, y += width) {
    const float mean = sum_of(x, width) / static_cast<float>(width);
    for (std::uint32_t i = 0; i < width; ++i) y[i] = x[i] - mean;
    const float r = 1.0f / std::sqrt(sum_of_squares(y, width) / static_cast<float>(width) + eps);
    for (std::uint32_t i = 0; i < width; ++i) y[i] = (y[i] * r) * w[i];
    for (std::uint32_t i = 0; b != nullptr && i < width; ++i) y[i] = y[i] + b[i];
  }
}

inline void angles(const angle_args& a) {
  const std::size_t half = a.inverse_frequency.size();
  for (std::uint32_t t = 0; t < a.tokens; ++t) {
    const float position = static_cast<float>(a.positions[t]);
    for (std::size_t i = 0; i < half; ++i) {
      float s, c;
      sincos_f32(position * a.inverse_frequency[i], s, c);
      if (a.magnitude != 1.0f) {
        s = s * a.magnitude;
        c = c * a.magnitude;
      }
      a.sine[t * half + i] = s;
      a.cosine[t * half + i] = c;
    }
  }
}

inline void rope(const rope_args& a) {
  for (std::uint32_t t = 0; t < a.tokens; ++t) {
    const float* sine = a.sine + std::size_t{t} * a.half;
    const float* cosine = a.cosine + std::size_t{t} * a.half;
    for (std::uint32_t head = 0; head < a.heads; ++head) {
      float* low = a.x + (std::size_t{t} * a.heads + head) * a.head_dim;
      float* high = low + a.half;
      for (std::uint32_t i = 0; i < a.half; ++i) {
        const float x0 = low[i], x1 = high[i];
        low[i] = std::fma(x0, cosine[i], -(x1 * sine[i]));
        high[i] = std::fma(x1, cosine[i], x0 * sine[i]);
      }
    }
  }
}

inline void silu_gate(const float* gate, const float* up, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = silu_f32(gate[i]) * up[i];
}

inline void gelu_gate(const float* gate, const float* up, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = gelu_tanh_f32(gate[i]) * up[i];
}

inline void gelu_erf_gate(const float* gate, const float* up, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = gelu_erf_f32(gate[i]) * up[i];
}

inline void silu(const float* x, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = silu_f32(x[i]);
}

inline void gelu(const float* x, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = gelu_tanh_f32(x[i]);
}

inline void gelu_erf(const float* x, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = gelu_erf_f32(x[i]);
}

inline void add(const float* a, const float* b, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

inline void softcap(float* x, std::size_t count, float cap) {
  const float inverse = 1.0f / cap;
  for (std::size_t i = 0; i < count; ++i) x[i] = cap * tanh_f32(x[i] * inverse);
}
