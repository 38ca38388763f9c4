// Block writers for tests; the readers are engine/quant/unpack.h.
#include "tests/support/random_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include "engine/core/half.h"

namespace infer::test_support {
namespace {

void store_u16(std::byte* to, std::uint16_t value) {
  std::memcpy(to, &value, sizeof value);
}

/// [0, 1) with 24 random bits. (The standard distributions differ between libraries.)
float unit(std::mt19937& random) {
  return static_cast<float>(random() >> 8) * 0x1p-24f;
}

/// An f16 scale of either sign around `size`.
std::uint16_t random_scale(std::mt19937& random, float size) {
  const float magnitude = size * (0.5f + unit(random));
  return f32_to_f16(random() % 2 == 0 ? magnitude : -magnitude);
}

void random_scales(tensor_type type, std::byte* block, std::mt19937& random) {
  switch (type) {
    case tensor_type::q4_0:
      return store_u16(block, random_scale(random, 1.0f / 8));
    case tensor_type::q4_1:
      store_u16(block, random_scale(random, 1.0f / 15));
      return store_u16(block + 2, random_scale(random, 0.5f));
    case tensor_type::q5_0:
      return store_u16(block, random_scale(random, 1.0f / 16));
    case tensor_type::q5_1:
      store_u16(block, random_scale(random, 1.0f / 31));
      return store_u16(block + 2, random_scale(random, 0.5f));
    case tensor_type::iq4_nl:
      return store_u16(block, random_scale(random, 1.0f / 127));
    case tensor_type::mxfp4:
      block[0] = static_cast<std::byte>(123 + random() % 3);
      return;
    case tensor_type::q2_k:
      store_u16(block + 80, random_scale(random, 1.0f / (15 * 3)));
      return store_u16(block + 82, random_scale(random, 1.0f / 15));
    case tensor_type::q3_k:
      return store_u16(block + 108, random_scale(random, 1.0f / (32 * 4)));
    case tensor_type::q5_k:
      store_u16(block, random_scale(random, 1.0f / (32 * 31)));
      return store_u16(block + 2, random_scale(random, 1.0f / 63));
    case tensor_type::iq4_xs:
      return store_u16(block, random_scale(random, 1.0f / (32 * 127)));
    case tensor_type::q8_0:
      return store_u16(block, random_scale(random, 1.0f / 127));
    case tensor_type::q4_k:
      store_u16(block, random_scale(random, 1.0f / (32 * 15)));
      return store_u16(block + 2, random_scale(random, 1.0f / 63));
    case tensor_type::q6_k:
      return store_u16(block + 208, random_scale(random, 1.0f / (32 * 64)));
    default:
      throw std::invalid_argument("no random blocks of this type");
  }
}

struct code_range {
  float d;  // value = d*(code - zero) + m
  float m;
  int zero;
  int top;  // codes 0..top

  int code_of(float value) const {
    if (d == 0) return zero;
    return std::clamp(static_cast<int>(std::lround((value - m) / d)) + zero, 0, top);
  }
};

code_range symmetric(std::span<const float> values, int zero, int top) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  return {f16_to_f32(f32_to_f16(largest / static_cast<float>(zero - (zero == 128 ? 1 : 0)))), 0, zero, top};
}

code_range with_minimum(std::span<const float> values, int top) {
  const auto [low, high] = std::ranges::minmax(values);
  return {f16_to_f32(f32_to_f16((high - low) / static_cast<float>(top))), f16_to_f32(f32_to_f16(low)), 0, top};
}

void quantize_block(tensor_type type, std::span<const float> values, std::byte* to) {
  const code_range range = type == tensor_type::q4_0   ? symmetric(values, 8, 15)
                           : type == tensor_type::q4_1 ? with_minimum(values, 15)
                           : type == tensor_type::q5_0 ? symmetric(values, 16, 31)
                                                       : symmetric(values, 128, 255);
  store_u16(to, f32_to_f16(range.d));
  to += 2;
  if (type == tensor_type::q8_0) {
    for (std::size_t i = 0; i < 32; ++i) to[i] = static_cast<std::byte>(range.code_of(values[i]) - 128);
    return;
  }
  if (type == tensor_type::q4_1) {
    store_u16(to, f32_to_f16(range.m));
    to += 2;
  }
  std::uint32_t fifth = 0;
  std::byte* halves = type == tensor_type::q5_0 ? to + 4 : to;
  for (std::size_t i = 0; i < 32; ++i) {
    const int code = range.code_of(values[i]);
    fifth |= static_cast<std::uint32_t>(code >> 4) << i;
    halves[i % 16] |= static_cast<std::byte>((code & 15) << (i < 16 ? 0 : 4));
  }
  if (type == tensor_type::q5_0) std::memcpy(to, &fifth, sizeof fifth);
}

template <class Code, class Convert>
std::vector<std::byte> convert_all(std::span<const float> values, Convert convert) {
  std::vector<std::byte> out(values.size() * sizeof(Code));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Code code = convert(values[i]);
    std::memcpy(out.data() + i * sizeof code, &code, sizeof code);
  }
  return out;
}

}  // namespace

std::vector<float> random_floats(std::size_t count, std::uint32_t seed, float amplitude) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = amplitude * (2 * unit(random) - 1);
  return values;
}

std::vector<std::byte> random_blocks(tensor_type type, std::size_t count, std::uint32_t seed) {
  const tensor_type_info& info = info_of(type);
  if (type == tensor_type::f32 || type == tensor_type::f16 || type == tensor_type::bf16) {
    return quantize(type, random_floats(count, seed));
  }
  std::mt19937 random(seed);
  std::vector<std::byte> blocks(count * info.block_bytes);
  for (std::byte& byte : blocks) byte = static_cast<std::byte>(random() & 255u);
  for (std::size_t i = 0; i < count; ++i) random_scales(type, blocks.data() + i * info.block_bytes, random);
  return blocks;
}

bool has_quantizer(tensor_type type) {
  switch (type) {
    case tensor_type::f32:
    case tensor_type::f16:
    case tensor_type::bf16:
    case tensor_type::q4_0:
    case tensor_type::q4_1:
    case tensor_type::q5_0:
    case tensor_type::q8_0:
      return true;
    default:
      return false;
  }
}

std::vector<std::byte> quantize(tensor_type type, std::span<const float> values) {
  switch (type) {
    case tensor_type::f32:
      return convert_all<float>(values, [](float value) { return value; });
    case tensor_type::f16:
      return convert_all<std::uint16_t>(values, f32_to_f16);
    case tensor_type::bf16:
      return convert_all<std::uint16_t>(values, f32_to_bf16);
    default:
      if (!has_quantizer(type)) throw std::invalid_argument("no quantizer for this type");
  }
  if (values.size() % 32 != 0) throw std::invalid_argument("values do not fill whole blocks");
  const std::size_t block_bytes = info_of(type).block_bytes;
  std::vector<std::byte> out(values.size() / 32 * block_bytes);
  for (std::size_t i = 0; i < values.size() / 32; ++i) {
    quantize_block(type, values.subspan(i * 32, 32), out.data() + i * block_bytes);
  }
  return out;
}

}  // namespace infer::test_support
