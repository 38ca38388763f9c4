// Attention over pages by the numeric contract. Included inside the namespace of each body.

inline constexpr std::uint32_t attention_chunk = 256;
inline constexpr std::uint32_t max_head_dim = 512;

inline void store_element(std::byte* at, plan::kv_type type, float value) {
  if (type == plan::kv_type::f32) {
    std::memcpy(at, &value, 4);
  } else {
    const std::uint16_t code = type == plan::kv_type::f16 ? f32_to_f16_saturated(value) : f32_to_bf16(value);
    std::memcpy(at, &code, 2);
  }
}

inline float load_element(const std::byte* at, plan::kv_type type) {
  if (type == plan::kv_type::f32) return load_le<float>(at);
  const auto code = load_le<std::uint16_t>(at);
  return type == plan::kv_type::f16 ? f16_to_f32(code) : bf16_to_f32(code);
}

inline void store_kv(const store_args& a) {
  const plan::kv_layout& l = a.kv.layout;
  const std::size_t key_size = plan::bytes_of(l.keys), value_size = plan::bytes_of(l.values);
  for (std::uint32_t t = 0; t < a.tokens; ++t) {
    const std::uint32_t position = a.first_position + t;
    std::byte* page = a.kv.pages[position / plan::page_positions];
    const std::uint32_t inside = position % plan::page_positions;
    const std::uint32_t block = inside / plan::key_block_positions, lane = inside % plan::key_block_positions;
    for (std::uint32_t head = 0; head < l.kv_heads; ++head) {
      const float* k = a.k + (std::size_t{t} * l.kv_heads + head) * l.head_dim;
      const float* v = a.v + (std::size_t{t} * l.kv_heads + head) * l.head_dim;
      std::byte* keys = page + l.key_offset(a.kv.layer, head);
      std::byte* values = page + l.value_offset(a.kv.layer, head);
      for (std::uint32_t d = 0; d < l.head_dim; ++d) {
        const std::size_t at = (std::size_t{block} * l.head_dim + d) * plan::key_block_positions + lane;
        store_element(keys + at * key_size, l.keys, k[d]);
        store_element(values + (std::size_t{inside} * l.head_dim + d) * value_size, l.values, v[d]);
      }
    }
  }
}

// What one query has gathered so far: running maximum, sum and weighted values.
struct attention_state {
  float maximum, sum;
  float values[max_head_dim];
};

// Scores of 16 consecutive positions: one chain of fma over d for each.
inline void score_block(const float* q, const std::byte* keys, plan::kv_type type, std::uint32_t head_dim, float* t) {
  for (std::uint32_t lane = 0; lane < plan::key_block_positions; ++lane) t[lane] = 0.0f;
  const std::size_t size = plan::bytes_of(type);
  float k[plan::key_block_positions];
  for (std::uint32_t d = 0; d < head_dim; ++d) {
    const std::byte* row = keys + std::size_t{d} * plan::key_block_positions * size;
    for (std::uint32_t lane = 0; lane < plan::key_block_positions; ++lane)
      k[lane] = load_element(row + lane * size, type);
    for (std::uint32_t lane = 0; lane < plan::key_block_positions; ++lane) t[lane] = std::fma(q[d], k[lane], t[lane]);
  }
}

// One chunk of positions [from, to) inside one aligned run of 256: its maximum, sum and weighted values.
inline void attend_chunk(const attention_args& a, const float* q, std::uint32_t kv_head, std::uint32_t from,
                         std::uint32_t to, attention_state& out) {
  const plan::kv_layout& l = a.kv.layout;
  float scores[attention_chunk];
  const std::uint32_t base = from / attention_chunk * attention_chunk;
  for (std::uint32_t position = from / plan::key_block_positions * plan::key_block_positions; position < to;
       position += plan::key_block_positions) {
    const std::byte* page = a.kv.pages[position / plan::page_positions];
    const std::uint32_t block = position % plan::page_positions / plan::key_block_positions;
    const std::byte* keys = page + l.key_offset(a.kv.layer, kv_head) +
                            std::size_t{block} * l.head_dim * plan::key_block_positions * plan::bytes_of(l.keys);
    score_block(q, keys, l.keys, l.head_dim, scores + (position - base));
  }
  float maximum = -std::numeric_limits<float>::infinity();
  for (std::uint32_t position = from; position < to; ++position) {
    float& s = scores[position - base];
    s = s * a.scale;
    if (a.softcap != 0.0f) s = a.softcap * tanh_f32(s * (1.0f / a.softcap));
    maximum = s > maximum ? s : maximum;
  }
  float lanes[sum_lanes] = {};
  for (std::uint32_t d = 0; d < l.head_dim; ++d) out.values[d] = 0.0f;
  const std::size_t size = plan::bytes_of(l.values);
  for (std::uint32_t i = from - base; i < to - base; ++i) scores[i] = exp_f32(scores[i] - maximum);
  for (std::uint32_t position = from; position < to; ++position) {
    const float p = scores[position - base];
    lanes[position % sum_lanes] = lanes[position % sum_lanes] + p;
    const std::byte* row = a.kv.pages[position / plan::page_positions] + l.value_offset(a.kv.layer, kv_head) +
                           std::size_t{position % plan::page_positions} * l.head_dim * size;
    for (std::uint32_t d = 0; d < l.head_dim; ++d)
      out.values[d] = std::fma(p, load_element(row + d * size, l.values), out.values[d]);
  }
  out.maximum = maximum;
  out.sum = fold_lanes(lanes);
}

inline void merge_chunk(const attention_state& chunk, std::uint32_t head_dim, attention_state& into) {
  const float maximum = chunk.maximum > into.maximum ? chunk.maximum : into.maximum;
  const float a = exp_f32(into.maximum - maximum);
  const float b = exp_f32(chunk.maximum - maximum);
  into.sum = std::fma(into.sum, a, chunk.sum * b);
  for (std::uint32_t d = 0; d < head_dim; ++d) into.values[d] = std::fma(into.values[d], a, chunk.values[d] * b);
  into.maximum = maximum;
}

inline void attention(const attention_args& a) {
  const std::uint32_t head_dim = a.kv.layout.head_dim;
  const std::uint32_t per_kv_head = a.heads / a.kv.layout.kv_heads;
  for (std::uint32_t t = 0; t < a.tokens; ++t) {
    const std::uint32_t end = a.first_position + t + 1;
    const std::uint32_t begin = a.window != 0 && end > a.window ? end - a.window : 0;
    for (std::uint32_t head = a.head_begin; head < a.head_end; ++head) {
      const std::size_t at = (std::size_t{t} * a.heads + head) * head_dim;
      attention_state total, chunk;
      bool first = true;
      for (std::uint32_t from = begin; from < end;) {
        const std::uint32_t aligned_end = (from / attention_chunk + 1) * attention_chunk;
        const std::uint32_t to = aligned_end < end ? aligned_end : end;
        attend_chunk(a, a.q + at, head / per_kv_head, from, to, first ? total : chunk);
        if (!first) merge_chunk(chunk, head_dim, total);
        first = false;
        from = to;
      }
      const float r = 1.0f / total.sum;
      for (std::uint32_t d = 0; d < head_dim; ++d) a.out[at + d] = total.values[d] * r;
    }
  }
}
