// Loops over blocks; the block formats themselves are in unpack.h.
#include "engine/quant/dequantize.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "engine/core/half.h"
#include "engine/quant/unpack.h"

namespace infer::quant {
namespace {

void write_block(const g32_block& block, bool with_minimum, float* out) {
  if (with_minimum) {
    for (std::size_t i = 0; i < g32_elements; ++i) out[i] = block.d * static_cast<float>(block.q[i]) + block.m;
  } else {
    for (std::size_t i = 0; i < g32_elements; ++i) out[i] = block.d * static_cast<float>(block.q[i]);
  }
}

void write_block(const g256_block& block, bool with_minimum, float* out) {
  for (std::size_t sub = 0; sub < g256_subs; ++sub) {
    const float scale = block.d * static_cast<float>(block.sc[sub]);
    const float minimum = block.dmin * static_cast<float>(block.mn[sub]);
    const std::int8_t* q = block.q.data() + sub * g256_sub_elements;
    float* to = out + sub * g256_sub_elements;
    if (with_minimum) {
      for (std::size_t i = 0; i < g256_sub_elements; ++i) to[i] = scale * static_cast<float>(q[i]) - minimum;
    } else {
      for (std::size_t i = 0; i < g256_sub_elements; ++i) to[i] = scale * static_cast<float>(q[i]);
    }
  }
}

void unpack(tensor_type type, const std::byte* block, g32_block& out) {
  unpack_g32(type, block, out);
}
void unpack(tensor_type type, const std::byte* block, g256_block& out) {
  unpack_g256(type, block, out);
}

template <class Block>
void write_blocks(tensor_type type, byte_view blocks, float* out) {
  const tensor_type_info& info = info_of(type);
  const bool with_minimum = has_minimum(type);
  Block block;
  for (std::size_t at = 0; at < blocks.size(); at += info.block_bytes, out += info.block_elements) {
    unpack(type, blocks.data() + at, block);
    write_block(block, with_minimum, out);
  }
}

/// Index of the first word whose exponent bits are all set, or the number of words. Chunks keep the loop a vector loop.
template <class Word>
std::size_t first_not_finite(byte_view words, Word exponent) {
  constexpr std::size_t chunk = 4096;
  const std::size_t count = words.size() / sizeof(Word);
  const auto not_finite = [&](std::size_t i) {
    return (load_le<Word>(words.data() + i * sizeof(Word)) & exponent) == exponent;
  };
  for (std::size_t begin = 0; begin < count; begin += chunk) {
    const std::size_t end = std::min(count, begin + chunk);
    Word found = 0;
    for (std::size_t i = begin; i < end; ++i) found |= static_cast<Word>(not_finite(i));
    if (found == 0) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (not_finite(i)) return i;
    }
  }
  return count;
}

/// Where the first f16 scale of a block lies; a minimum follows it.
std::size_t scale_offset(tensor_type type) {
  switch (type) {
    case tensor_type::q2_k:
      return 80;
    case tensor_type::q3_k:
      return 108;
    case tensor_type::q6_k:
      return 208;
    default:
      return 0;
  }
}

/// Index of the first block with a scale or minimum that is not finite, or the number of blocks.
std::size_t first_bad_block(tensor_type type, byte_view blocks) {
  const std::size_t block_bytes = info_of(type).block_bytes;
  const std::size_t count = blocks.size() / block_bytes;
  const std::size_t first = scale_offset(type);
  const std::size_t second = has_minimum(type) ? first + 2 : first;
  const auto finite = [](const std::byte* at) { return (load_le<std::uint16_t>(at) & 0x7c00u) != 0x7c00u; };
  for (std::size_t block = 0; block < count; ++block) {
    const std::byte* at = blocks.data() + block * block_bytes;
    if (type == tensor_type::mxfp4 ? *at == std::byte{255} : !finite(at + first) || !finite(at + second)) return block;
  }
  return count;
}

/// "Q4_0, Q4_1, …": the types a file can be quantized to.
std::string names_of_quantized_types() {
  std::string names;
  for (const tensor_type type : supported_types) {
    if (form_of(type) != canonical_form::floating)
      names += (names.empty() ? "" : ", ") + std::string(info_of(type).name);
  }
  return names;
}

result<void> check_whole_blocks(tensor_type type, byte_view blocks) {
  const tensor_type_info& info = info_of(type);
  if (!supported(type)) {
    return fail(fault::unsupported_type,
                "weights of type " + std::string(info.name) +
                    " cannot be computed with; use a file in F32, F16 or BF16, or quantized to "
                    "one of " +
                    names_of_quantized_types());
  }
  if (blocks.size() % info.block_bytes != 0) {
    return fail(fault::size_mismatch, std::to_string(blocks.size()) + " bytes are not whole blocks of " +
                                          std::string(info.name) + " (" + std::to_string(info.block_bytes) +
                                          " bytes each)");
  }
  return success();
}

}  // namespace

const char* fault_sentence(fault value) noexcept {
  switch (value) {
    case fault::unsupported_type:
      return "weights of this type cannot be computed with";
    case fault::size_mismatch:
      return "the bytes of the weights are not as many as their shape asks for";
    case fault::not_finite:
      return "the weights hold an infinite scale or one that is not a number";
  }
  return "unknown fault of the weights";
}

result<void> dequantize(tensor_type type, byte_view blocks, std::span<float> out) {
  INFER_TRYV(check_whole_blocks(type, blocks));
  const tensor_type_info& info = info_of(type);
  const std::size_t elements = blocks.size() / info.block_bytes * info.block_elements;
  if (elements != out.size()) {
    return fail(fault::size_mismatch, std::to_string(blocks.size()) + " bytes of " + std::string(info.name) + " hold " +
                                          std::to_string(elements) + " values, not " + std::to_string(out.size()));
  }
  if (elements == 0) return success();
  switch (type) {
    case tensor_type::f32:
      std::memcpy(out.data(), blocks.data(), blocks.size());
      break;
    case tensor_type::f16:
      for (std::size_t i = 0; i < elements; ++i) out[i] = detail::load_f16(blocks.data() + 2 * i);
      break;
    case tensor_type::bf16:
      for (std::size_t i = 0; i < elements; ++i) out[i] = bf16_to_f32(load_le<std::uint16_t>(blocks.data() + 2 * i));
      break;
    default:
      if (form_of(type) == canonical_form::g32)
        write_blocks<g32_block>(type, blocks, out.data());
      else
        write_blocks<g256_block>(type, blocks, out.data());
  }
  return success();
}

result<void> check_finite_scales(tensor_type type, byte_view blocks) {
  INFER_TRYV(check_whole_blocks(type, blocks));
  const tensor_type_info& info = info_of(type);
  const std::size_t count = blocks.size() / info.block_bytes;
  const std::size_t bad = type == tensor_type::f32    ? first_not_finite<std::uint32_t>(blocks, 0x7f800000u)
                          : type == tensor_type::f16  ? first_not_finite<std::uint16_t>(blocks, 0x7c00u)
                          : type == tensor_type::bf16 ? first_not_finite<std::uint16_t>(blocks, 0x7f80u)
                                                      : first_bad_block(type, blocks);
  if (bad == count) return success();
  const char* what = form_of(type) == canonical_form::floating ? "the value" : "the scale";
  return fail(fault::not_finite, std::string(what) + " at element " + std::to_string(bad * info.block_elements) + " (" +
                                     std::string(info.name) +
                                     ") is infinite or not a number; the file is damaged or was badly converted");
}

}  // namespace infer::quant
