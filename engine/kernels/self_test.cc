// Inputs, runs and comparisons.
#include "engine/kernels/self_test.h"

#include <array>
#include <cstring>
#include <limits>
#include <span>

#include "engine/core/half.h"
#include "engine/quant/blocks.h"

namespace infer::kernels {
namespace {

constexpr float poison = std::numeric_limits<float>::quiet_NaN();

/// The same numbers on every machine.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}

  std::uint32_t bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  /// From −amplitude to amplitude.
  float real(float amplitude = 1) { return amplitude * (2 * (static_cast<float>(bits() >> 8) * 0x1p-24f) - 1); }
  std::vector<float> reals(std::size_t count, float amplitude = 1) {
    std::vector<float> out(count);
    for (float& value : out) value = real(amplitude);
    return out;
  }
  /// An f16 of moderate size and either sign.
  std::uint16_t scale() { return f32_to_f16(real(0.25f)); }

 private:
  std::uint64_t state_;
};

/// Where the f16 scales of a block lie; all other bytes may be anything. MXFP4's scale is one byte.
std::span<const std::uint32_t> scale_offsets(tensor_type type) {
  static constexpr std::array<std::uint32_t, 2> two{0, 2}, at_80{80, 82};
  static constexpr std::array<std::uint32_t, 1> one{0}, at_108{108}, at_208{208};
  switch (type) {
    case tensor_type::q4_1:
    case tensor_type::q5_1:
    case tensor_type::q4_k:
    case tensor_type::q5_k:
      return two;
    case tensor_type::q2_k:
      return at_80;
    case tensor_type::q3_k:
      return at_108;
    case tensor_type::q6_k:
      return at_208;
    default:
      return one;
  }
}

void put(std::byte* to, std::uint16_t value) {
  std::memcpy(to, &value, sizeof value);
}

std::vector<std::byte> blocks_of(tensor_type type, std::size_t elements, numbers& random) {
  const tensor_type_info& info = info_of(type);
  std::vector<std::byte> out(elements / info.block_elements * info.block_bytes);
  if (quant::form_of(type) == quant::canonical_form::floating) {
    for (std::size_t at = 0; at < out.size(); at += info.block_bytes) {
      const float value = random.real();
      if (type == tensor_type::f32)
        std::memcpy(out.data() + at, &value, sizeof value);
      else
        put(out.data() + at, type == tensor_type::f16 ? f32_to_f16(value) : f32_to_bf16(value));
    }
    return out;
  }
  for (std::byte& byte : out) byte = static_cast<std::byte>(random.bits() & 255);
  for (std::size_t at = 0; at < out.size(); at += info.block_bytes) {
    if (type == tensor_type::mxfp4) {
      out[at] = static_cast<std::byte>(122 + random.bits() % 4);
      continue;
    }
    for (const std::uint32_t offset : scale_offsets(type)) put(out.data() + at + offset, random.scale());
  }
  return out;
}

/// A matrix of random blocks, as files have it and in panels.
struct matrix {
  matrix(tensor_type type, std::uint32_t rows, std::uint32_t columns, numbers& random)
      : bytes(blocks_of(type, std::size_t{rows} * columns, random)),
        packed(quant::pack_matrix(type, bytes, rows, columns)),
        view{type, rows, columns, bytes.data(), bytes.size() / rows},
        panels{type, rows, columns, packed.data(), quant::panel_bytes(type, columns)} {}
  const matrix_view& as(const op_table& ops) const { return ops.pack == quant::pack_kind::r16k4 ? panels : view; }

  std::vector<std::byte> bytes, packed;
  matrix_view view, panels;
};

/// Quantized activations and their storage.
struct activations {
  activations(const op_table& ops, quant::canonical_form form, const std::vector<float>& x, std::uint32_t tokens,
              std::uint32_t width) {
    const bool g32 = form == quant::canonical_form::g32;
    rows.groups = width / static_cast<std::uint32_t>(g32 ? quant::g32_elements : quant::g256_elements);
    const std::size_t groups = std::size_t{tokens} * rows.groups;
    codes.resize(x.size());
    scales.assign(groups, poison);
    rows.codes = codes.data();
    rows.scales = scales.data();
    if (g32) {
      rows.sums_scaled = (sums_scaled = std::vector<float>(groups, poison)).data();
      rows.negative_sums = (negative_sums = std::vector<std::int32_t>(groups)).data();
    } else {
      rows.sums = (sums = std::vector<std::int16_t>(groups * 16)).data();
      rows.sums32 = (sums32 = std::vector<std::int16_t>(groups * 8)).data();
    }
    (g32 ? ops.quantize_g32 : ops.quantize_g256)(x.data(), tokens, width, rows);
  }
  std::vector<std::int8_t> codes;
  std::vector<float> scales, sums_scaled;
  std::vector<std::int32_t> negative_sums;
  std::vector<std::int16_t> sums, sums32;
  quantized_rows rows;
};

/// Pages of keys and values.
struct pages {
  pages(const plan::kv_layout& layout, std::uint32_t positions) : layout(layout) {
    for (std::uint32_t page = 0; page * plan::page_positions < positions; ++page)
      table.push_back(storage.emplace_back(layout.page_bytes()).data());
  }
  kv_view view() const { return {table, layout, 0}; }

  plan::kv_layout layout;
  std::vector<std::vector<std::byte>> storage;
  std::vector<std::byte*> table;
};

const char* name_of(plan::kv_type type) {
  return type == plan::kv_type::f32 ? "f32" : type == plan::kv_type::f16 ? "f16" : "bf16";
}

class checker {
 public:
  checker(const op_table& ops, const op_table& normative) : ops_(ops), right_(normative) { report_.table = ops.name; }

  self_test_report run() {
    for (const tensor_type type : quant::supported_types) check_weights(type);
    check_quantizers();
    check_norms();
    check_rope();
    for (const auto keys : {plan::kv_type::f32, plan::kv_type::f16, plan::kv_type::bf16}) check_attention(keys);
    check_pointwise();
    return std::move(report_);
  }

 private:
  template <class Value>
  void same(const std::string& what, const std::vector<Value>& got, const std::vector<Value>& right) {
    ++report_.checks;
    for (std::size_t at = 0; at < right.size(); ++at) {
      if (std::memcmp(&got[at], &right[at], sizeof(Value)) == 0) continue;
      report_.failures.push_back(what + ": value " + std::to_string(at) + " of " + std::to_string(right.size()) +
                                 " is " + std::to_string(got[at]) + " where " + std::to_string(right[at]) +
                                 " is right");
      return;
    }
  }

  void check_weights(tensor_type type) {
    const std::string name(info_of(type).name);
    const std::uint32_t rows = 50;  // three panels and a piece of a fourth
    for (const std::uint32_t columns : {512u, 544u}) {
      if (columns % info_of(type).block_elements != 0) continue;
      numbers random(static_cast<std::uint64_t>(type) * 1000 + columns);
      const matrix w(type, rows, columns, random);
      std::vector<float> got(columns, poison), right(columns, poison);
      ops_.embed_row(w.as(ops_), rows - 1, got.data());
      right_.embed_row(w.as(right_), rows - 1, right.data());
      same("embed_row " + name, got, right);
      for (const std::uint32_t tokens : {1u, 3u, 40u}) {
        if (tokens == 40 && columns != 512) continue;
        const auto x = random.reals(std::size_t{tokens} * columns);
        const std::string shape =
            "linear " + name + ", " + std::to_string(columns) + " columns, " + std::to_string(tokens) + " tokens";
        same(shape + ", f32", linear(ops_, w, x, tokens, false), linear(right_, w, x, tokens, false));
        if (quant::form_of(type) == quant::canonical_form::floating) continue;
        same(shape + ", quantized", linear(ops_, w, x, tokens, true), linear(right_, w, x, tokens, true));
      }
    }
  }

  /// With bias, scale and residual, in two parts as threads share the rows.
  static std::vector<float> linear(const op_table& ops, const matrix& w, const std::vector<float>& x,
                                   std::uint32_t tokens, bool quantized) {
    numbers random(tokens);
    const std::uint32_t rows = w.view.rows;
    const auto bias = random.reals(rows), residual = random.reals(std::size_t{tokens} * rows);
    std::vector<float> y(std::size_t{tokens} * rows, poison);
    linear_args a{.w = w.as(ops), .tokens = tokens, .bias = bias.data(), .scale = 0.3f, .residual = residual.data()};
    a.y = y.data();
    const auto form = quant::form_of(w.view.type);
    const activations q(ops, quantized ? form : quant::canonical_form::g32, x, tokens, w.view.columns);
    (quantized ? void(a.q = &q.rows) : void(a.x = x.data()));
    ops.linear(a, {0, row_block});
    ops.linear(a, {row_block, rows});
    return y;
  }

  void check_quantizers() {
    constexpr std::uint32_t tokens = 3, width = 768;
    auto x = numbers(1).reals(tokens * width, 4);
    for (std::size_t at = 0; at < 256; ++at) x[at] = at < 32 ? 1e-38f : at < 64 ? 0.0f : x[at] * 1e30f;
    for (const auto form : {quant::canonical_form::g32, quant::canonical_form::g256}) {
      const std::string name = form == quant::canonical_form::g32 ? "quantize_g32 " : "quantize_g256 ";
      const activations got(ops_, form, x, tokens, width), right(right_, form, x, tokens, width);
      same(name + "codes", got.codes, right.codes);
      same(name + "scales", got.scales, right.scales);
      same(name + "sums_scaled", got.sums_scaled, right.sums_scaled);
      same(name + "negative_sums", got.negative_sums, right.negative_sums);
      same(name + "sums", got.sums, right.sums);
      same(name + "sums32", got.sums32, right.sums32);
    }
  }

  void check_norms() {
    for (const std::uint32_t width : {7u, 64u, 1100u}) {
      numbers random(width);
      const auto x = random.reals(std::size_t{2} * width, 3), w = random.reals(width), b = random.reals(width);
      std::vector<float> got(x.size(), poison), right(x.size(), poison);
      ops_.rms_norm(x.data(), w.data(), 1e-5f, 2, width, got.data());
      right_.rms_norm(x.data(), w.data(), 1e-5f, 2, width, right.data());
      same("rms_norm of " + std::to_string(width), got, right);
      ops_.layer_norm(x.data(), w.data(), b.data(), 1e-5f, 2, width, got.data());
      right_.layer_norm(x.data(), w.data(), b.data(), 1e-5f, 2, width, right.data());
      same("layer_norm of " + std::to_string(width), got, right);
    }
  }

  void check_rope() {
    constexpr std::uint32_t tokens = 3, heads = 3, head_dim = 70, half = 33;
    numbers random(2);
    const std::vector<std::int32_t> positions{0, 77, 100'003};
    std::vector<float> inverse(half);
    for (std::uint32_t i = 0; i < half; ++i) inverse[i] = 1.0f / static_cast<float>(1 + i * i);
    auto got = random.reals(tokens * heads * head_dim), right = got;
    std::vector<float> tables[2][2];
    for (const bool normative : {false, true}) {
      const op_table& ops = normative ? right_ : ops_;
      auto& [sine, cosine] = tables[normative ? 1 : 0];
      sine.assign(tokens * half, poison);
      cosine.assign(tokens * half, poison);
      ops.angles({positions.data(), tokens, inverse, 1.25f, sine.data(), cosine.data()});
    }
    same("angles, sines", tables[0][0], tables[1][0]);
    same("angles, cosines", tables[0][1], tables[1][1]);
    const auto& [sine, cosine] = tables[1];
    ops_.rope({got.data(), tokens, heads, head_dim, half, sine.data(), cosine.data()});
    right_.rope({right.data(), tokens, heads, head_dim, half, sine.data(), cosine.data()});
    same("rope", got, right);
  }

  void check_attention(plan::kv_type type) {
    constexpr std::uint32_t length = 75, heads = 6, kv_heads = 2;
    for (const std::uint32_t head_dim : {20u, 64u}) {
      numbers random(head_dim);
      const plan::kv_layout layout{1, kv_heads, head_dim, type, type};
      const auto k = random.reals(length * kv_heads * head_dim, 2), v = random.reals(length * kv_heads * head_dim);
      const auto q = random.reals(length * heads * head_dim, 2);
      const pages stored(layout, length), right_stored(layout, length);
      ops_.store_kv({k.data(), v.data(), length, 0, stored.view()});
      right_.store_kv({k.data(), v.data(), length, 0, right_stored.view()});
      const std::string name = std::string(name_of(type)) + " keys and values, heads of " + std::to_string(head_dim);
      for (std::size_t page = 0; page < stored.storage.size(); ++page)
        same("store_kv, " + name, codes(stored.storage[page]), codes(right_stored.storage[page]));
      for (const std::uint32_t window : {0u, 40u}) {
        for (const float softcap : {0.0f, 30.0f}) {
          std::vector<float> got(q.size(), poison), right(q.size(), poison);
          attention_args a{q.data(), got.data(),         length, 0, heads, 0, heads, 0.2f, softcap,
                           window,   right_stored.view()};
          ops_.attention(a);
          a.out = right.data();
          right_.attention(a);
          same("attention, " + name + ", window " + std::to_string(window) + (softcap > 0 ? ", capped" : ""), got,
               right);
        }
      }
    }
  }

  static std::vector<int> codes(const std::vector<std::byte>& bytes) {
    std::vector<int> out;
    for (const std::byte byte : bytes) out.push_back(static_cast<int>(byte));
    return out;
  }

  void check_pointwise() {
    constexpr std::size_t count = 203;
    numbers random(3);
    auto a = random.reals(count, 9);
    const auto b = random.reals(count);
    const float special[]{0.0f, -0.0f, 1e-45f, 0.625f, -0.626f, 20.5f, -87.32f, 88.8f, -100.0f, 3e38f};
    std::copy(std::begin(special), std::end(special), a.begin());
    const auto pointwise = [&](const char* name, auto apply) {
      std::vector<float> got(count, poison), right(count, poison);
      apply(ops_, got.data());
      apply(right_, right.data());
      same(name, got, right);
    };
    constexpr std::pair<const char*, op_table::gate_body op_table::*> gates[]{
        {"silu_gate", &op_table::silu_gate},
        {"gelu_gate", &op_table::gelu_gate},
        {"gelu_erf_gate", &op_table::gelu_erf_gate}};
    for (const auto& [name, gate] : gates)
      pointwise(name, [&](const op_table& t, float* out) { (t.*gate)(a.data(), b.data(), count, out); });
    constexpr std::pair<const char*, op_table::activation_body op_table::*> activations[]{
        {"silu", &op_table::silu}, {"gelu", &op_table::gelu}, {"gelu_erf", &op_table::gelu_erf}};
    for (const auto& [name, activation] : activations)
      pointwise(name, [&](const op_table& t, float* out) { (t.*activation)(a.data(), count, out); });
    pointwise("add", [&](const op_table& t, float* out) { t.add(a.data(), b.data(), count, out); });
    pointwise("softcap", [&](const op_table& t, float* out) {
      std::copy(b.begin(), b.end(), out);
      t.softcap(out, count, 0.7f);
    });
  }

  const op_table& ops_;
  const op_table& right_;
  self_test_report report_;
};

}  // namespace

self_test_report self_test(const op_table& ops, const op_table& normative) {
  return checker(ops, normative).run();
}

}  // namespace infer::kernels
